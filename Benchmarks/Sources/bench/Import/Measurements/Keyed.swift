import Foundation

/// New rows into an empty table, each looked up by a key first: by several attributes, a date or a text; against `sqlite3` by
/// a temporary table and `ON CONFLICT`, and against ours by a whole number.
struct Keyed: Measurement {
  private let key: ReadingKey

  init(_ key: ReadingKey) { self.key = key }

  var name: String { key.rawValue + "-key" }
  var summary: String { "upsert of new rows by \(key.words), against sqlite3's ON CONFLICT and ours by a whole number" }

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load(.readings)
    let standings = try bench.contest([
      bench.oursKeyed(load, key), bench.sqlite3?.keyedSide(load.file, key),
      bench.oursKeyed(load, .number, name: "ours, by number"),
    ])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure("upsert by \(key.words)", rows: load.rows, ours, standings[1], peer: "sqlite3", atLeast: 2),
      ImportFigure(
        "the same, against a whole number", rows: load.rows, ours, standings[2], peer: "ours, by number", atLeast: 0.5),
    ]
  }
}

/// By what readings are found. Each has an entity of its own, with the same attributes.
enum ReadingKey: String {
  case number, two, date, text

  var entity: String {
    switch self {
    case .number: "ByNumber"
    case .two: "ByTwo"
    case .date: "ByDate"
    case .text: "ByText"
    }
  }

  var columns: [String] {
    switch self {
    case .number: ["number"]
    case .two: ["station", "at"]
    case .date: ["at"]
    case .text: ["code"]
    }
  }

  var words: String {
    switch self {
    case .number: "a whole number"
    case .two: "two attributes"
    case .date: "a date"
    case .text: "a text"
    }
  }
}

extension Workbench {
  /// Ours, with readings that are all new.
  func oursKeyed(_ load: LoadFile, _ key: ReadingKey, mode: String = "upsert", name: String = "ours") -> Side {
    Side(
      name: name,
      run: {
        try Ours(model: .readings, entity: key.entity, mode: mode).run(
          $0, from: load.file, expecting: [load.rows, 0, 0])
      }, contents: { try sqlite3?.readings(of: $0, in: key.entity) })
  }
}

extension SQLite3 {
  private static let readings =
    "(number INTEGER, code TEXT, station TEXT, at TEXT, level REAL, grade INTEGER, note TEXT"

  private func schema(_ key: ReadingKey) -> [String] {
    [
      "PRAGMA journal_mode = WAL",
      "CREATE TABLE \(key.entity) \(Self.readings), UNIQUE (\(key.columns.joined(separator: ", "))))",
    ]
  }

  private func incoming(_ csv: URL) -> [String] {
    [
      "CREATE TEMP TABLE incoming \(Self.readings))",
      ".import --csv --skip 1 --schema temp \"\(csv.path)\" incoming",
    ]
  }

  private func upsert(_ key: ReadingKey) -> String {
    let rest = ["number", "code", "station", "at", "level", "grade", "note"].filter { !key.columns.contains($0) }
    return "INSERT INTO \(key.entity) SELECT * FROM incoming WHERE true ON CONFLICT "
      + "(\(key.columns.joined(separator: ", "))) DO UPDATE SET "
      + rest.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
  }

  /// Makes the table with its constraint, and upserts the file by a temporary table: one process.
  func keyedSide(_ csv: URL, _ key: ReadingKey) -> Side {
    Side(
      name: name, run: { try run($0, schema(key) + incoming(csv) + [upsert(key)]) },
      contents: { try readings(of: $0, in: key.entity) })
  }

  /// The same, and then deletes the rows that the file doesn't have.
  func synchronisingSide(_ csv: URL, _ key: ReadingKey) -> Side {
    let own = key.columns.map { "\(key.entity).\($0) = incoming.\($0)" }.joined(separator: " AND ")
    let index = "CREATE INDEX temp.incoming_key ON incoming (\(key.columns.joined(separator: ", ")))"
    let deletion = "DELETE FROM \(key.entity) WHERE NOT EXISTS (SELECT 1 FROM incoming WHERE \(own))"
    return Side(
      name: name, run: { try run($0, schema(key) + incoming(csv) + [upsert(key), index, deletion]) },
      contents: { try readings(of: $0, in: key.entity) })
  }

  /// Replaces all rows by those of a file, in one transaction.
  func replacingSide(_ csv: URL, of former: URL, _ key: ReadingKey) -> Side {
    Side(
      name: name,
      prepare: { _ = try run($0, schema(key) + incoming(former) + [upsert(key)]) },
      run: {
        try run(
          $0,
          incoming(csv) + [
            "BEGIN", "DELETE FROM \(key.entity)", "INSERT INTO \(key.entity) SELECT * FROM incoming", "COMMIT",
          ])
      }, contents: { try readings(of: $0, in: key.entity) })
  }

  /// Reads a whole table of readings and checks the file.
  func readings(of database: URL, in table: String) throws -> Contents {
    try contents(
      of: database,
      count: "SELECT count(*) FROM \(table)",
      """
      SELECT sum(number), sum(length(code)), count(DISTINCT station), count(DISTINCT at), printf('%.2f', total(level)), \
      sum(grade), min(note), max(note) FROM \(table)
      """)
  }
}
