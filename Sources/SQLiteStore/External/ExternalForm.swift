import CoreDataStores
import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects
import SQLSchema

/// A large value as it stands in its column.
enum ExternalValue: Equatable {
  /// The bytes themselves, from an offset on.
  case inline(from: Int)
  /// The name of a file.
  case file(String)
}

// A file of this library has the bytes as a BLOB, or the text `_EXTERNAL_DATA/` with the file's name: see decision 0199. A file
// of Core Data has a BLOB with 1 and the bytes, or 2, the file's name, and 0.

extension StoredForms {
  private static let start = "_EXTERNAL_DATA/"
  private enum Mark {
    static let inline: UInt8 = 1
    static let inFile: UInt8 = 2
  }

  /// What the bytes of a column are.
  /// - Throws: ``ExternalDataError/badReference(_:)``.
  func externalValue(_ bytes: UnsafeRawBufferPointer, isText: Bool) throws(ExternalDataError) -> ExternalValue {
    switch self {
    case .own:
      guard isText, bytes.starts(with: Self.start.utf8) else { return .inline(from: 0) }
      return .file(try Self.name(bytes.dropFirst(Self.start.utf8.count)))
    case .coreData:
      guard !isText, let mark = bytes.first else { throw .badReference(String(decoding: bytes, as: UTF8.self)) }
      switch mark {
      case Mark.inline: return .inline(from: 1)
      case Mark.inFile: return .file(try Self.name(bytes.dropFirst().prefix { $0 != 0 }))
      default: throw .badReference("it begins with the byte \(mark)")
      }
    }
  }

  private static func name(_ bytes: some Collection<UInt8>) throws(ExternalDataError) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard ExternalFolder.isName(text) else { throw .badReference(text) }
    return text
  }

  /// What stands in the column of a value that is in a file.
  func reference(to name: String) -> DatabaseValue {
    switch self {
    case .own: (Self.start + name).databaseValue
    case .coreData: (Data([Mark.inFile]) + Data(name.utf8) + Data([0])).databaseValue
    }
  }

  /// What stands in the column of a value that is there itself.
  func inlineValue(_ data: Data) -> DatabaseValue {
    self == .own ? data.databaseValue : (Data([Mark.inline]) + data).databaseValue
  }

  /// The condition for a column that names a file.
  func isReference(_ column: String) -> String {
    switch self {
    case .own: "typeof(\(column)) = 'text' AND substr(\(column), 1, \(Self.start.count)) = '\(Self.start)'"
    case .coreData: "typeof(\(column)) = 'blob' AND substr(\(column), 1, 1) = x'02'"
    }
  }

  /// A column's values as SQL, those in files included.
  func contentTerm(_ column: String) -> String { "\(contentFunction)(\(column))" }

  private var contentFunction: String { self == .own ? "lade_data" : "lade_core_data" }

  /// The folder with the files of a database. A file that is to replace another's content uses that one's.
  func folder(ofDatabase path: String) -> ExternalFolder {
    // As SQLite does for the files that it makes.
    var path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    if self == .coreData { return ExternalFolder(ofCoreDataStoreAt: URL(fileURLWithPath: path)) }
    if let ending = Self.sideEnding(of: path) { path.removeLast(ending.count) }
    return ExternalFolder(ofStoreAt: URL(fileURLWithPath: path))
  }

  /// The ending of a file that is made to replace another's content; nil for any other.
  static func sideEnding(of path: String) -> String? {
    [SideFile.ending, StoreFile.replacementEnding].first { path.hasSuffix($0) }
  }

  /// Adds the function that reads large values in SQL. Every connection that runs queries needs it.
  /// - Parameter folder: where the files are; nil for the connection's own.
  func registerContent(on db: Database, folder given: ExternalFolder? = nil) {
    let path = sqlite3_db_filename(db.sqliteConnection, "main").map { String(cString: $0) } ?? ""
    let folder = given ?? folder(ofDatabase: path)
    db.add(
      function: DatabaseFunction(contentFunction, argumentCount: 1) { arguments in
        do throws(ExternalDataError) {
          switch arguments[0].storage {
          case .null: return nil
          case .int64, .double: return arguments[0]
          case .string(var text):
            let result = text.withUTF8 { bytes in
              Result { () throws(ExternalDataError) in try externalValue(UnsafeRawBufferPointer(bytes), isText: true) }
            }
            switch try result.get() {
            case .inline: return Data(text.utf8)
            case .file(let name): return try folder.mapped(name)
            }
          case .blob(let data):
            let result = data.withUnsafeBytes { bytes in
              Result { () throws(ExternalDataError) in try externalValue(bytes, isText: false) }
            }
            switch try result.get() {
            case .inline(from: let offset): return offset == 0 ? data : Data(data.dropFirst(offset))
            case .file(let name): return try folder.mapped(name)
            }
          }
        } catch {
          throw DatabaseError(resultCode: error.resultCode, message: error.description)
        }
      })
  }
}

extension ExternalDataError {
  /// SQLite's code for it.
  var resultCode: ResultCode {
    switch self {
    case .badReference, .missing, .notAFile: .SQLITE_CORRUPT
    case .failed(_, _, let code) where code == ENOSPC || code == EDQUOT: .SQLITE_FULL
    case .failed(_, _, let code) where code == EACCES || code == EPERM: .SQLITE_PERM
    case .failed: .SQLITE_IOERR
    }
  }

  /// The failure of a store at a path.
  func failure(ofStoreAt path: String, _ place: String = "") -> StoreFailure {
    let place = place.isEmpty ? "" : place + ": "
    switch self {
    case .badReference, .missing, .notAFile: return StoreFailure(.corrupt, path: path, message: place + description)
    case .failed(let call, let file, let code):
      let failure = StoreFailure(errno: code, of: call, path: file)
      return StoreFailure(failure.kind, path: path, message: "\(place)\(file): \(failure.message)")
    }
  }
}
