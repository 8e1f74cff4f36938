import BenchSupport
import Foundation

/// Imports into PostgreSQL against psql, into the same table: Lade's, with its indexes.
struct InPostgres: Measurement {
  let name = "postgres"
  let summary = "into PostgreSQL: the standard load against \\copy, an upsert against a temporary table and ON CONFLICT"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    guard let server = try PostgresServer() else {
      say("PostgreSQL isn't installed (`make deps` installs it): left out.")
      return []
    }
    return try standardLoad(on: bench, server) + upsert(on: bench, server)
  }

  private func standardLoad(on bench: Workbench, _ server: PostgresServer) throws -> [ImportFigure] {
    let load = try bench.load()
    let empty = bench.folder.appending(path: "results/load/empty.csv")
    try "id,name,email,age,balance,created,note\n".write(to: empty, atomically: true, encoding: .utf8)
    let ours = Ours()
    let standings = try bench.contest([
      side("ours", server) { schema in
        try ours.run(schema: schema, of: server, from: load.file, expecting: [load.rows, 0, 0])
      },
      side(server.name, server) { schema in
        // The table, with all of its indexes, is the one that Lade makes.
        try ours.run(schema: schema, of: server, from: empty, expecting: [0, 0, 0])
        return try server.copyPeople(into: schema, from: load.file)
      },
    ])
    guard let mine = standings[0] else { return [] }
    return [ImportFigure("PostgreSQL", rows: load.rows, mine, standings[1], peer: "psql", atLeast: 1.5)]
  }

  private func upsert(on bench: Workbench, _ server: PostgresServer) throws -> [ImportFigure] {
    let (load, changed) = (try bench.load(), try bench.load(.changed))
    let updated = changed.rows / LoadFile.changedEach
    func filled(_ schema: String) throws {
      try Ours().run(schema: schema, of: server, from: load.file, expecting: [load.rows, 0, 0])
      // Neither side is to be slowed by what has just been written.
      try server.psql(["VACUUM ANALYZE \"\(schema)\".\"Person\"", "CHECKPOINT"])
    }
    let standings = try bench.contest([
      side("ours", server) { schema in
        try filled(schema)
        return try Ours(mode: "upsert").run(
          schema: schema, of: server, from: changed.file, expecting: [0, updated, changed.rows - updated])
      },
      side(server.name, server) { schema in
        try filled(schema)
        return try server.upsertPeople(into: schema, from: changed.file)
      },
    ])
    guard let ours = standings[0] else { return [] }
    return [ImportFigure("PostgreSQL, upsert", rows: load.rows, ours, standings[1], peer: "psql", atLeast: 2)]
  }

  /// A side whose rows are in a schema of their own, which is gone after each run.
  private func side(
    _ name: String, _ server: PostgresServer, _ work: @escaping (_ schema: String) throws -> MeasuredRun
  ) -> Side {
    let schema = "bench"
    return Side(
      name: name,
      run: { _ in
        try server.psql(["DROP SCHEMA IF EXISTS \(schema) CASCADE", "CHECKPOINT"])
        return try work(schema)
      },
      contents: { _ in try server.contents(of: schema) })
  }
}
