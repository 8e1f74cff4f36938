import Foundation

@testable import ManagedObjects

/// A folder of its own in the temporary directory, removed at the end.
final class ModelFixture {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      print("couldn't remove \(folder.path): \(error)")
    }
  }

  /// Writes a file, with the folders above it.
  @discardableResult
  func write(_ text: String, to path: String) throws -> URL {
    let url = folder.appendingPathComponent(path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    return url
  }

  /// A model of these lines between `<model>` and `</model>`; the first of them is line 2.
  static func model(_ body: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\">\n\(body)\n</model>\n"
  }

  /// Reads a model of these lines.
  static func read(_ body: String) throws -> ManagedObjectModel {
    let fixture = try ModelFixture()
    return try ManagedObjectModel(contentsOf: fixture.write(model(body), to: "contents"))
  }

  /// The error that reading a model of these lines ends with.
  static func error(_ body: String) throws -> ModelError? {
    do {
      _ = try read(body)
      return nil
    } catch let error as ModelError {
      return error
    }
  }

  /// A model among the shared files beside the package; nil when they aren't there.
  static func shared(_ name: String) -> URL? {
    var package = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    for _ in 0..<4 { package.deleteLastPathComponent() }
    let url = package.deletingLastPathComponent().appendingPathComponent("shared/data/models/\(name)")
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }

  /// Whether the shared models are there.
  static var hasShared: Bool { shared("MoodyMigrations.xcdatamodeld") != nil }
}

extension ModelError {
  /// The line and reason of the first mistake of a malformed model.
  var place: (line: Int, reason: String)? {
    guard case .malformed(let mistakes) = self, let first = mistakes.first, let line = first.line else { return nil }
    return (line, first.reason)
  }
}
