package import Foundation

/// Files that Core Data and Xcode wrote, in `Tests/CoreDataFiles`.
package enum CoreDataFiles {
  /// The file or folder with a name. Tests copy what they open for writing.
  package static func url(_ name: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("CoreDataFiles/\(name)")
  }

  /// The bytes of a file.
  package static func data(_ name: String) throws -> Data { try Data(contentsOf: url(name)) }
}
