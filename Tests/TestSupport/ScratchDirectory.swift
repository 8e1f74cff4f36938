package import Foundation

/// A directory of one test's own, gone with it.
package final class ScratchDirectory: Sendable {
  package let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("lade-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      print("couldn't remove \(url.path): \(error)")
    }
  }

  package func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
