// The one place that knows what PostgreSQL's error codes mean for a store:
// https://www.postgresql.org/docs/15/errcodes-appendix.html

import ManagedObjects
import PostgreSQL

/// The server's errors as failures of a store.
enum PostgresFailure {
  /// Runs `body`, and translates the server's errors.
  static func translating<T>(_ name: String, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as PostgresError {
      throw ManagedObjectError.store(failure(error, name))
    }
  }

  static func failure(_ error: PostgresError, _ name: String) -> StoreFailure {
    StoreFailure(
      kind(of: error), path: name, message: error.message + (error.detail.map { ": \($0)" } ?? ""),
      detail: error.state.isEmpty ? nil : "SQLSTATE \(error.state)")
  }

  private static func kind(of error: PostgresError) -> StoreFailure.Kind {
    switch error.state {
    case "53100": return .full
    case "53200": return .outOfMemory
    case "42501", "28000", "28P01": return .permission
    case "25006": return .readOnly
    case "57014": return .interrupted
    case "3D000": return .cannotOpen
    case "XX001", "XX002": return .corrupt
    case "40001", "40P01", "55P03", "53300": return .busy
    default: break
    }
    switch error.state.prefix(2) {
    case "08", "58": return .io
    case "22": return .outOfRange
    case "23": return .constraint
    case "53": return .busy
    case "54": return .tooComplex
    default: return error.isLoss ? .io : .other
    }
  }
}
