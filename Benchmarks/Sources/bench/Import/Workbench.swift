import BenchSupport
import Foundation
import Glibc

/// What the measurements share: how large and how often, the peers that are installed, the files, and a place to work.
struct Workbench {
  /// The folder of the benchmarks' package.
  let folder: URL
  let rows: Int
  let runs: Int
  let sqlite3: SQLite3?
  let duckDB: DuckDB?
  let sqliteUtils: SQLiteUtils?
  let openpyxl: OpenPyXL?

  /// Looks for the peers, and says which ones are missing.
  init(folder: URL, rows: Int, runs: Int) throws {
    self.folder = folder
    self.rows = rows
    self.runs = runs
    let peers = folder.appending(path: ".peers")
    sqlite3 = try SQLite3()
    duckDB = try DuckDB(peers: peers)
    sqliteUtils = try SQLiteUtils(peers: peers)
    openpyxl = try OpenPyXL(peers: peers, script: folder.appending(path: "workbook.py"))
    if sqlite3 == nil {
      say("sqlite3 isn't installed (`make deps` installs it): without it, what came in is counted by ours only.")
    }
    if duckDB == nil { say("DuckDB isn't installed (`make bench-peers` installs it): left out.") }
    if sqliteUtils == nil { say("sqlite-utils isn't installed (`make bench-peers` installs it): left out.") }
  }

  /// The file of that kind, of `rows` rows if nothing else is said; made if it isn't there.
  func load(_ variant: LoadFile.Variant = .people, rows: Int? = nil) throws -> LoadFile {
    try LoadFile(
      variant, rows: rows ?? self.rows, generator: folder.appending(path: variant.generator),
      folder: folder.appending(path: "results/load"))
  }

  /// Has the sides take turns, each being the first of a round in turn, and compares what came in after every run.
  ///
  /// - Parameters:
  ///   - sides: nil for one that isn't installed.
  ///   - rows: how many the table has to have afterwards.
  /// - Returns: as many as there are sides.
  /// - Throws: ``WrongContents`` when sides disagree, or one of them has other rows than it should.
  func contest(_ sides: [Side?], rows: Int? = nil) throws -> [Standing?] {
    var standings = sides.map { side in side.map { Standing(name: $0.name, runs: []) } }
    var agreed: Contents?
    for round in 0..<runs {
      for offset in sides.indices {
        // The last side starts first: Lade is never the first to read a file.
        let place = (sides.count - 1 + round + offset) % sides.count
        guard let side = sides[place], round < side.mostRuns else { continue }
        let (run, found) = try turn(of: side)
        standings[place]?.runs.append(run)
        let rate = Double(rows ?? self.rows) / run.seconds
        say("  \(side.name): \(figure(rate)) rows/s, \(figure(run.peakMiB)) MiB")
        guard let found else { continue }
        guard found.rows == rows ?? self.rows, found.integrity == "ok" else {
          throw WrongContents(who: side.name, expected: "\(rows ?? self.rows) rows, integrity ok", found: "\(found)")
        }
        if let agreed, agreed != found {
          throw WrongContents(who: side.name, expected: "what the others have, \(agreed)", found: "\(found)")
        }
        agreed = found
      }
    }
    for side in sides { if let side { try remove(prepared(side)) } }
    return standings
  }

  private func prepared(_ side: Side) -> URL { folder.appending(path: "results/work/prepared \(side.name)") }

  /// One run in an empty folder, or in a copy of what the side has prepared, on the same file system as the results; gone
  /// afterwards, or at the next run if this one is interrupted. Before the work starts, what earlier work left to write is
  /// written.
  private func turn(of side: Side) throws -> (MeasuredRun, Contents?) {
    let work = folder.appending(path: "results/work/run")
    try remove(work)
    if let prepare = side.prepare {
      let kept = prepared(side)
      // Made where it will be used: a database may note its path.
      if !FileManager.default.fileExists(atPath: kept.path) {
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        try prepare(work.appending(path: Self.database))
        try FileManager.default.moveItem(at: work, to: kept)
      }
      try FileManager.default.copyItem(at: kept, to: work)
    } else {
      try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    }
    sync()
    let outcome = Result {
      let database = work.appending(path: Self.database)
      let run = try side.run(database)
      return (run, try side.contents(database))
    }
    try remove(work)
    return try outcome.get()
  }

  private static let database = "people.sqlite"

  private func remove(_ folder: URL) throws {
    if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
  }

  /// Removes what an interrupted run left.
  func tidy() throws { try remove(folder.appending(path: "results/work")) }
}
