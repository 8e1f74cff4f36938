import Foundation
import Importing

/// The file `host` in the state folder of a daemon that shares a queue. It names the folder, so that two daemons which have the
/// same host by mistake are told from one that was killed and starts again, and it says what the host was called, so that its jobs
/// go along when it is renamed. A name is noted only once the queue has taken the daemon in under it.
struct HostFile: Sendable {
  private static let name = "host"

  private struct Content: Codable, Equatable {
    /// As no other folder is called.
    var folder: String
    /// What the host was called on the queue, the latest last.
    var names: [String]
  }

  private let state: String
  private let host: String
  private let content: Content

  /// Reads it, and makes it where it is missing. Blocks.
  /// - Parameters:
  ///   - state: the folder's path.
  ///   - host: what the host is called now.
  /// - Throws: ``DaemonError/directory(path:reason:cause:)``.
  init(in state: String, host: String) throws {
    (self.state, self.host) = (state, host)
    let path = state + "/" + Self.name
    do {
      content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      content = Content(folder: UUID().uuidString.lowercased(), names: [])
      try write(content)
    } catch is DecodingError {
      throw DaemonError.directory(
        path: path,
        reason: "it isn't as laded writes it: remove it, unless queue.host was changed since the last start",
        cause: .unreadable)
    } catch {
      let trouble = PathDiagnosis(path, error)
      throw DaemonError.directory(path: path, reason: trouble.reason, cause: trouble.cause)
    }
  }

  /// The folder's name.
  var folder: String { content.folder }

  /// What the host was called before, the latest last.
  var formerNames: [String] { content.names.filter { $0 != host } }

  /// What the host was called last; nil if it is called so still, or was never on the queue.
  var renamedFrom: String? { content.names.last.flatMap { $0 == host ? nil : $0 } }

  /// Notes the host's present name. Blocks.
  /// - Throws: ``DaemonError/directory(path:reason:cause:)``.
  func keepName() throws {
    guard content.names.last != host else { return }
    try write(Content(folder: folder, names: formerNames + [host]))
  }

  private func write(_ content: Content) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let bytes = Array(try encoder.encode(content)) + [UInt8(ascii: "\n")]
    do {
      let file = try AtomicFile(folder: state, name: Self.name, hiddenName: ".\(Self.name).new")
      try bytes.withUnsafeBytes { try file.write($0) }
      try file.commit()
    } catch {
      let trouble = PathDiagnosis(state + "/" + Self.name, error)
      throw DaemonError.directory(path: state, reason: trouble.reason, cause: trouble.cause)
    }
  }
}
