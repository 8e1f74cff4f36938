import Foundation
import Glibc
import Importing

/// The recipes that clients have saved: a folder of the daemon's state with a file `NAME.yaml` for each. Each file is a layer
/// of the configuration that says one recipe and nothing else.
struct SavedRecipes {
  /// What is to become of one of them.
  struct Change: Sendable {
    /// A name that ``YAMLValue/Entry/isName(_:)`` accepts.
    let name: String
    /// The file's text; nil to remove it.
    let text: String?
  }

  private static let ending = ".yaml"
  let folder: String

  /// - Parameter state: the folder of the daemon's state.
  init(state: String) { folder = state + "/recipes" }

  func path(of name: String) -> String { folder + "/" + name + Self.ending }

  /// The names, sorted. Blocks.
  /// - Throws: what the system says, unless there is no folder yet.
  func names() throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(Self.ending) && !$0.hasPrefix(".") }
        .map { String($0.dropLast(Self.ending.count)) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      return []
    }
  }

  /// The text of one as it is now; nil if there is none. Blocks.
  func text(of name: String) throws -> String? {
    do {
      return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(of: name))), as: UTF8.self)
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      return nil
    }
  }

  /// Makes a change durable. A kill leaves the old or the new content. Blocks.
  /// - Throws: `WriterError`.
  func apply(_ change: Change) throws(WriterError) {
    guard let text = change.text else { return try remove(change.name) }
    let file = try AtomicFile(
      folder: folder, name: change.name + Self.ending, hiddenName: ".\(change.name)\(Self.ending).new")
    let bytes = Array(text.utf8)
    do {
      try bytes.withUnsafeBytes { try file.write($0) }
    } catch let error as WriterError {
      throw error
    } catch {
      throw .file(path: path(of: change.name), operation: "write", errno: EIO)
    }
    try file.commit()
  }

  private func remove(_ name: String) throws(WriterError) {
    guard unlink(path(of: name)) == 0 || errno == ENOENT else {
      throw .file(path: path(of: name), operation: "remove", errno: errno)
    }
    let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw .file(path: folder, operation: "open the folder", errno: errno) }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw .file(path: folder, operation: "sync the folder", errno: errno) }
  }
}
