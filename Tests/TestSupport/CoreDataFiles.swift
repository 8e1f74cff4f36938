package import Foundation

/// Files that Core Data and Xcode wrote: those of the CoreDataPlus project, among the shared files beside the package.
package enum CoreDataFiles {
  private static let folder: URL = {
    var package = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    for _ in 0..<3 { package.deleteLastPathComponent() }
    return package.deletingLastPathComponent().appendingPathComponent("shared/data/stores/CoreDataPlus")
  }()

  /// Whether they are there. Tests that need them are skipped otherwise.
  package static let areThere = FileManager.default.fileExists(atPath: folder.path)

  /// The file or folder with a name. Tests copy what they open for writing.
  package static func url(_ name: String) -> URL { folder.appendingPathComponent(name) }

  /// The bytes of a file.
  package static func data(_ name: String) throws -> Data { try Data(contentsOf: url(name)) }
}
