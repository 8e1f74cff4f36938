import BenchSupport
import Foundation

/// The loop in C that does nothing but read, convert and bind: see `Sources/limit`.
enum Limit {
  static let name = "the limit, in C"

  /// Makes the table, imports the file and makes the index: one process.
  static func importPeople(into database: URL, from csv: URL) throws -> MeasuredRun {
    try MeasuredProgram(programBeside("limit").path, [database.path, csv.path]).run()
  }
}
