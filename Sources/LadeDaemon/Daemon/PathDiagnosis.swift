import LadeTypes
import Foundation
import Glibc
import ManagedObjects
import Spool

/// Why a path can't be used: what the error of a library doesn't say.
struct PathDiagnosis {
  let cause: DaemonError.Cause
  /// What happened and, if that is known, what to do.
  let reason: String

  /// - Parameters:
  ///   - path: what couldn't be opened or made.
  ///   - error: what was thrown then.
  init(_ path: String, _ error: any Error) {
    let found = Self.look(at: path) ?? Self.folder(for: error)
    let told = Self.cause(of: error)
    let isUnreadable = told == .unreadable
    cause = isUnreadable ? .unreadable : found?.cause ?? told
    let advice = isUnreadable ? "" : found.map { ". " + $0.advice } ?? ""
    let text = "\(error)"
    reason = (advice.isEmpty || !text.hasSuffix(".") ? text : String(text.dropLast())) + advice
  }

  /// What the error itself tells.
  static func cause(of error: any Error) -> DaemonError.Cause {
    switch error {
    case ManagedObjectError.incompatibleStore, is MigrationError: .unreadable
    case ManagedObjectError.store(let failure):
      switch failure.kind {
      case .corrupt, .notAStore: .unreadable
      case .permission: .notPermitted
      case .readOnly: .unusable
      case .full, .busy, .io, .cannotOpen, .constraint, .outOfRange, .tooComplex, .interrupted, .outOfMemory, .other:
        .failing
      }
    case SpoolError.system(_, _, let code): .init(errno: code)
    case SpoolError.notADirectory: .unusable
    default: (error as? SystemFailure ?? SystemFailure(error)).code.map(DaemonError.Cause.init(errno:)) ?? .failing
    }
  }

  /// A folder that stands where the file of a store should be, which doesn't pass by waiting.
  private static func folder(for error: any Error) -> (cause: DaemonError.Cause, advice: String)? {
    guard case ManagedObjectError.store(let failure) = error, failure.kind == .cannotOpen else { return nil }
    var status = stat()
    guard stat(failure.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
    return (
      .unusable, "\(failure.path) is a folder, and should be the store's file: move it away, or name another path"
    )
  }

  /// What is wrong with the path's owner, mode or file system; nil if nothing is.
  private static func look(at path: String) -> (cause: DaemonError.Cause, advice: String)? {
    var place = path
    var status = stat()
    // A path that can't be examined is missing, or behind a closed folder: the nearest folder explains it.
    while stat(place, &status) != 0 {
      guard let slash = place.lastIndex(of: "/"), place.count > 1 else { return nil }
      place = slash == place.startIndex ? "/" : String(place[..<slash])
    }
    var system = statvfs()
    if statvfs(place, &system) == 0, system.f_flag & UInt(ST_RDONLY) != 0 {
      return (
        .unusable,
        "\(place) is read-only\(place == path ? "" : ", and \(path) isn't there"): a service may write only to what its unit names "
          + "(StateDirectory=, ReadWritePaths=; systemctl edit laded), systemd-tmpfiles --create makes its spool, and findmnt "
          + "tells what is mounted read-only"
      )
    }
    let isDirectory = status.st_mode & S_IFMT == S_IFDIR
    if faccessat(AT_FDCWD, place, R_OK | W_OK | (isDirectory ? X_OK : 0), AT_EACCESS) == 0 { return nil }
    return denied(at: place, status: status)
  }

  private static func denied(at place: String, status: stat) -> (cause: DaemonError.Cause, advice: String) {
    let mode = String(status.st_mode & 0o7777, radix: 8)
    return (
      .notPermitted,
      "\(place) belongs to \(user(status.st_uid)), its mode is \(mode), and the daemon runs as \(user(geteuid())): "
        + "give it to that user (chown)"
    )
  }

  private static func user(_ number: uid_t) -> String {
    SystemUser.name(of: number).map { "user \($0)" } ?? "user \(number)"
  }
}

/// An error of the system, in its words.
struct SystemFailure: Error, CustomStringConvertible {
  let description: String
  /// The error number, if that is known.
  let code: Int32?

  init(code: Int32) {
    description = String(cString: strerror(code))
    self.code = code
  }

  /// Of one of Foundation's errors, the system's behind it.
  init(_ error: any Error) {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
    let system = (cause ?? error) as NSError
    code = system.domain == NSPOSIXErrorDomain ? Int32(system.code) : nil
    description = (cause ?? error).localizedDescription
      .replacing("The operation could not be completed. ", with: "")
  }
}
