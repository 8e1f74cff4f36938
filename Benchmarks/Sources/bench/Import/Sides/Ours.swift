import BenchSupport
import Foundation

/// Lade's import, by `lade-import`.
struct Ours {
  /// What `lade-import` knows: see its usage.
  enum Model: String {
    case plain
    case withoutIndex = "without-index"
    case clubs, captains
    case readings, parents, feed
  }

  var model = Model.plain
  var entity = "Person"
  var mode = "insert"
  /// Whether the store keeps where each row comes from.
  var lineage = false

  /// What `lade-import` prints.
  struct Report: Decodable {
    var inserted: Int
    var updated: Int
    var unchanged: Int
    var rejected: Int
    var seconds: Double
  }

  /// Imports a file into a database, which is made if it isn't there: one process.
  ///
  /// - Throws: ``WrongContents`` when it didn't do `expected`: inserted, updated, unchanged.
  @discardableResult
  func run(_ database: URL, from source: URL, expecting expected: [Int]) throws -> MeasuredRun {
    try run(["--database", database.path], from: source, expecting: expected)
  }

  /// Imports a file into a schema of a PostgreSQL database, which is made if it isn't there: one process.
  ///
  /// - Throws: ``WrongContents`` when it didn't do `expected`: inserted, updated, unchanged.
  @discardableResult
  func run(
    schema: String, of server: PostgresServer, from source: URL, expecting expected: [Int]
  ) throws -> MeasuredRun {
    try run(["--postgres", server.address, "--schema", schema], from: source, expecting: expected)
  }

  private func run(_ place: [String], from source: URL, expecting expected: [Int]) throws -> MeasuredRun {
    let (run, report) = try measured(place, from: source)
    let found = [report.inserted, report.updated, report.unchanged]
    guard found == expected, report.rejected == 0 else {
      throw WrongContents(
        who: "lade-import", expected: "\(expected) rows inserted, updated, unchanged",
        found: "\(found), and \(report.rejected) rejected")
    }
    return run
  }

  /// Imports an archive of files into a database: one process.
  func runFeed(_ database: URL, from archive: URL) throws -> MeasuredRun {
    let (run, report) = try measured(["--database", database.path], from: archive)
    guard report.rejected == 0 else {
      throw WrongContents(who: "lade-import", expected: "no rejects", found: "\(report.rejected) rejected")
    }
    return run
  }

  private func measured(_ place: [String], from source: URL) throws -> (MeasuredRun, Report) {
    let run = try MeasuredProgram(
      programBeside("lade-import").path,
      place + [
        "--source", source.path, "--model", model.rawValue, "--entity", entity, "--mode", mode,
      ] + (lineage ? ["--lineage", "true"] : [])
    ).run()
    return (run, try JSONDecoder().decode(Report.self, from: Data(run.output.utf8)))
  }
}

extension Workbench {
  /// Ours, with a file whose records are all new.
  func ours(_ load: LoadFile, _ model: Ours.Model = .plain, name: String = "ours") -> Side {
    Side(
      name: name, run: { try Ours(model: model).run($0, from: load.file, expecting: [load.rows, 0, 0]) },
      contents: { try sqlite3?.contents(of: $0) })
  }

  /// Ours, with a file of which all rows are there already and some are changed.
  func oursUpserting(_ changed: LoadFile, into load: LoadFile) -> Side {
    let updated = changed.rows / LoadFile.changedEach
    return Side(
      name: "ours",
      prepare: { try Ours().run($0, from: load.file, expecting: [load.rows, 0, 0]) },
      run: {
        try Ours(mode: "upsert").run($0, from: changed.file, expecting: [0, updated, changed.rows - updated])
      },
      contents: { try sqlite3?.contents(of: $0) })
  }
}
