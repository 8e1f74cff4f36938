import BenchSupport

/// Something that is measured by itself: one line of the table, or a few that belong together.
protocol Measurement: Sendable {
  /// What `--only` calls it.
  var name: String { get }
  /// What it is, in half a line.
  var summary: String { get }
  /// Runs all sides; what came in has been compared when this returns.
  func measure(on bench: Workbench) throws -> [ImportFigure]
}

/// All of them, in the order of the table.
let importMeasurements: [any Measurement] = [
  StandardLoad(), WithoutIndex(), RandomEmail(), AgainstDuckDB(), AgainstSQLiteUtils(), Upsert(), UpsertBySQLiteUtils(),
  AgainstLimit(), Lines(), LinesBySQLiteUtils(), TenMillion(), Relationship(), LateRelationship(), Keyed(.two),
  Keyed(.date), Keyed(.text), Synchronise(), Replace(), NestedObjects(), Feed(), Excel(), Parquet(), Traced(),
  InPostgres(),
]
