import Foundation

/// A directory of one test's own, gone with it. Its path is short, for sockets' paths are.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = "/tmp/lade-\(UUID().uuidString.prefix(13))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      print("couldn't remove \(path): \(error)")
    }
  }

  func file(_ name: String) -> String { path + "/" + name }
}
