// The one place that knows what SQLite's result codes, and errors of system calls, mean for a store.

import Foundation
import GRDB
import ManagedObjects

extension StoreFailure {
  /// What an error of SQLite means: https://sqlite.org/rescode.html.
  init(_ error: DatabaseError, path: String) {
    let message = error.message ?? "\(error.resultCode)"
    self.init(
      Self.kind(of: error), path: path, message: message, detail: "SQLite code \(error.extendedResultCode.rawValue)")
  }

  /// What any error of work in the background means, with what can't be done because of it.
  init(_ error: any Error, path: String, while consequence: String) {
    let cause =
      switch error {
      case let error as DatabaseError: StoreFailure(error, path: path)
      case ManagedObjectError.store(let failure): failure
      case let failure as StoreFailure: failure
      default: StoreFailure(.other, path: path, message: "\(error)")
      }
    self.init(cause.kind, path: path, message: "\(consequence): \(cause.message)", detail: cause.detail)
  }

  /// What a system call's error means.
  /// - Parameter meaning: what this call means by an error, where that differs from what others do.
  init(errno code: Int32, of call: String, path: String, meaning: [Int32: Kind] = [:]) {
    self.init(
      meaning[code] ?? Self.kind(ofErrno: code), path: path, message: "\(call): \(String(cString: strerror(code)))")
  }

  private static func kind(of error: DatabaseError) -> Kind {
    switch error.resultCode {
    case .SQLITE_FULL: .full
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
    case .SQLITE_CORRUPT: .corrupt
    case .SQLITE_NOTADB: .notAStore
    case .SQLITE_IOERR: .io
    case .SQLITE_CANTOPEN: .cannotOpen
    case .SQLITE_PERM, .SQLITE_AUTH: .permission
    case .SQLITE_READONLY: .readOnly
    case .SQLITE_CONSTRAINT: .constraint
    case .SQLITE_TOOBIG, .SQLITE_RANGE: .outOfRange
    // What sum() answers has no code of its own: https://sqlite.org/lang_aggfunc.html#sumunc.
    case .SQLITE_ERROR where error.message == "integer overflow": .outOfRange
    case .SQLITE_INTERRUPT: .interrupted
    case .SQLITE_NOMEM: .outOfMemory
    default: .other
    }
  }

  private static func kind(ofErrno code: Int32) -> Kind {
    switch code {
    case EACCES, EPERM: .permission
    case EROFS: .readOnly
    case ENOSPC, EDQUOT: .full
    case EIO: .io
    case ENOMEM: .outOfMemory
    case EINTR: .interrupted
    case ENOENT, ENOTDIR: .cannotOpen
    default: .other
    }
  }
}
