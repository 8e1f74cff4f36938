import Foundation
import Importing

/// The name of a state folder, as no other one is called: in its file `folder-id`. A shared queue knows by it whose a host's name is.
enum FolderIdentifier {
  private static let file = "folder-id"

  /// Reads it, and makes it where it is missing. Blocks.
  /// - Throws: ``DaemonError/directory(path:reason:cause:)``.
  static func read(in folder: String) throws -> String {
    let path = folder + "/" + file
    do {
      let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
      guard let identifier = UUID(uuidString: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
        throw DaemonError.directory(
          path: path,
          reason: "it isn't a UUID, as laded writes one. SELECT * FROM \"QueueHost\" in the queue's schema has it",
          cause: .unreadable)
      }
      return identifier.uuidString.lowercased()
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      return try make(in: folder)
    } catch let error as DaemonError {
      throw error
    } catch {
      let trouble = PathDiagnosis(path, error)
      throw DaemonError.directory(path: path, reason: trouble.reason, cause: trouble.cause)
    }
  }

  private static func make(in folder: String) throws -> String {
    let identifier = UUID().uuidString.lowercased()
    do {
      let file = try AtomicFile(folder: folder, name: file, hiddenName: ".\(file).new")
      try Array("\(identifier)\n".utf8).withUnsafeBytes { try file.write($0) }
      try file.commit()
    } catch {
      let trouble = PathDiagnosis(folder + "/" + file, error)
      throw DaemonError.directory(path: folder, reason: trouble.reason, cause: trouble.cause)
    }
    return identifier
  }
}
