import CSQLite
import CoreDataStores
import Foundation
import Glibc

/// Reads values of a Core Data store that are in files beside it, for its queries. Belongs to one thread at a time.
///
/// The store comes from an untrusted source. A reference can only lead to a file in the store's own folder, that the store's owner
/// owns, and no symbolic link is followed. A value longer than a record may be isn't read.
final class CoreDataFileValues {
  /// The function that returns a value's bytes, in SQL.
  static let function = "lade_core_data"

  private let folder: ExternalFolder
  private let owner: uid_t
  private let limit: Int
  /// Why a value of the current row can't be had.
  private var problem: RecordProblem?
  /// The bytes of all files, for which the store has only references.
  let bytes: Int64

  /// - Parameters:
  ///   - path: the store's.
  ///   - limit: the greatest length of a record.
  init(besideStore path: String, descriptor: Int32, limit: Int) {
    folder = ExternalFolder(ofCoreDataStoreAt: URL(fileURLWithPath: path))
    var status = stat()
    owner = fstat(descriptor, &status) == 0 ? status.st_uid : getuid()
    // In a record it is Base64.
    self.limit = limit / 4 * 3
    bytes = folder.size
  }

  /// Adds the function to a connection, which must not outlive this object.
  func register(on connection: OpaquePointer) -> Bool {
    let result = sqlite3_create_function_v2(
      connection, Self.function, 1, SQLITE_UTF8, Unmanaged.passUnretained(self).toOpaque(),
      { context, _, arguments in
        guard let context, let values = sqlite3_user_data(context), let argument = arguments?[0] else { return }
        Unmanaged<CoreDataFileValues>.fromOpaque(values).takeUnretainedValue().answer(argument, context)
      }, nil, nil, nil)
    return result == SQLITE_OK
  }

  /// What can't be had of the row that was read last.
  func takeProblem() -> RecordProblem? {
    defer { problem = nil }
    return problem
  }

  private func answer(_ argument: OpaquePointer, _ context: OpaquePointer) {
    let start = sqlite3_value_blob(argument)
    let stored = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(argument)))
    do throws(ExternalDataError) {
      guard let name = CoreDataValue.fileName(in: stored) else {
        throw .badReference(String(decoding: stored.dropFirst(), as: UTF8.self))
      }
      guard let data = try folder.content(name, limit: limit, owner: owner) else {
        problem = problem ?? .recordTooLong(limit: limit / 3 * 4)
        return sqlite3_result_null(context)
      }
      data.withUnsafeBytes {
        sqlite3_result_blob64(
          context, $0.baseAddress, sqlite3_uint64($0.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      }
    } catch {
      problem = problem ?? .unreadableFile(reason: error.description)
      sqlite3_result_null(context)
    }
  }
}
