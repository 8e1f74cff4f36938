import Foundation
import Glibc

/// How a job's file leaves `active/`.
package enum SpoolOutcome: Sendable, Equatable {
  /// The job succeeded: the file goes to `done/`.
  case done
  /// The job failed or was cancelled: the file goes to `corrupt/`, with the reason beside it. The reason says what happened and
  /// what to do.
  case corrupt(reason: String)
  /// The file has values that nothing may keep as they are: it is removed. If the job failed, the reason goes to `corrupt/`.
  case removed(reason: String?)

  var folder: SpoolDirectories.Folder {
    switch self {
    case .done, .removed(nil): .done
    case .corrupt, .removed: .corrupt
    }
  }

  package var reason: String? {
    switch self {
    case .done: nil
    case .corrupt(let reason): reason
    case .removed(let reason): reason
    }
  }

  /// Whether the file itself is kept.
  package var keepsFile: Bool {
    if case .removed = self { false } else { true }
  }
}

/// The contents of a `.reason` file.
struct SpoolReason {
  let place: String
  let status: FileStatus
  let code: String
  let reason: String

  var text: String {
    """
    time: \(Date.now.formatted(.iso8601))
    entry: \(place)
    size: \(status.size)
    owner: \(status.owner)
    group: \(status.group)
    code: \(code)
    reason: \(reason)

    """
  }
}

extension DirectoryHandle {
  /// Finds a free name, writes the reason beside it first (so that nothing is ever there without its reason), and lets `move`
  /// bring the entry. Returns the name.
  func put(like name: String, reason: String?, move: (FileName) throws -> Void) throws -> String {
    try FreeName.claim(name) { free in
      try status(of: free) != nil || status(of: DirectoryHandle.reasonName(of: free)) != nil
    } claim: { free in
      guard let reason else { return try move(free) }
      let reasonName = DirectoryHandle.reasonName(of: free)
      try write(reason, as: reasonName)
      do {
        try move(free)
      } catch {
        try remove(reasonName)
        throw error
      }
    }
  }

  private static func reasonName(of name: FileName) -> FileName { FileName((name.text ?? name.sanitised) + ".reason") }

  private func write(_ text: String, as name: FileName) throws {
    let file = try create(name, mode: 0o640)
    do {
      var text = text
      try text.withUTF8 { try file.write(UnsafeRawBufferPointer($0), at: 0, path: place(name)) }
      try file.synchronise(path: place(name))
    } catch {
      try remove(name)
      throw error
    }
  }
}
