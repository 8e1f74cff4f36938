import BenchSupport
import Foundation

/// The loop in C that does nothing but read, convert and bind: see `Sources/limit`.
enum Limit {
  static let name = "the limit, in C"

  /// Makes the table, imports the file and makes the index on email if there is one: one process.
  static func importPeople(into database: URL, from csv: URL, hasIndex: Bool = true) throws -> MeasuredRun {
    let arguments = [database.path, csv.path] + (hasIndex ? [] : ["without-index"])
    return try MeasuredProgram(programBeside("limit").path, arguments).run()
  }
}
