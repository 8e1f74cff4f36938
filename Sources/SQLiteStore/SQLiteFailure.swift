// The one place that knows what SQLite's result codes, and errors of system calls, mean for a store.

import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects

extension StoreFailure {
  /// What an error of SQLite means: https://sqlite.org/rescode.html.
  init(_ error: DatabaseError, path: String) {
    let obstacle = Self.obstacle(error, path)
    self.init(
      obstacle == nil ? Self.kind(of: error) : .cannotOpen, path: path, message: obstacle ?? Self.message(of: error),
      detail: "SQLite code \(error.extendedResultCode.rawValue)")
  }

  /// Why a file can't be written that may be; nil if there is another reason.
  private static func obstacle(_ error: DatabaseError, _ path: String) -> String? {
    guard error.resultCode == .SQLITE_READONLY, access(path, W_OK) == 0 else { return nil }
    switch error.extendedResultCode {
    // SQLite does so whatever it is refused for, as when the process has no more descriptors.
    case .SQLITE_READONLY: return "the system refused to open the file for writing, and it was opened for reading only"
    case .SQLITE_READONLY_ROLLBACK:
      return "a transaction has to be rolled back that couldn't be ended, and the file is opened for reading only"
    default: return nil
    }
  }

  /// The error's message, or else what its code means: the message of a connection isn't about errors that it hasn't noted,
  /// such as those of a backup's steps.
  private static func message(of error: DatabaseError) -> String {
    let ofCode = text(of: error.extendedResultCode)
    guard let message = error.message, !message.isEmpty, message != text(of: .SQLITE_OK) else { return ofCode }
    // SQLite's words are those for a file that may not be written.
    if error.extendedResultCode == .SQLITE_READONLY_DBMOVED, message == text(of: .SQLITE_READONLY) {
      return "the file was removed or replaced while it was open: remove the store and add it again"
    }
    return message
  }

  /// What a result code means, in SQLite's words.
  static func text(of code: ResultCode) -> String {
    sqlite3_errstr(code.rawValue).map { String(cString: $0) } ?? "\(code)"
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
    case .SQLITE_TOOBIG where error.message == "statement too long": .tooComplex
    case .SQLITE_TOOBIG, .SQLITE_RANGE: .outOfRange
    // What sum() answers has no code of its own: https://sqlite.org/lang_aggfunc.html#sumunc.
    case .SQLITE_ERROR where error.message == "integer overflow": .outOfRange
    case .SQLITE_ERROR where isOfLimit(error.message ?? ""): .tooComplex
    case .SQLITE_INTERRUPT: .interrupted
    case .SQLITE_NOMEM: .outOfMemory
    default: .other
    }
  }

  /// Whether SQLite says that a statement is beyond one of its limits, which have no code: https://sqlite.org/limits.html.
  private static func isOfLimit(_ message: String) -> Bool {
    ["too many ", "at most ", "Expression tree is too large", "parser stack overflow"].contains(
      where: message.hasPrefix)
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
