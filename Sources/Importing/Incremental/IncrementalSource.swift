import LadeTypes
import ManagedObjects

/// A database that is read again and again, each time from where the time before ended: `from` of a recipe.
///
/// The configuration alone names one. Whoever submits a job can't: the daemon opens it with its own rights.
package struct IncrementalSource: Codable, Sendable, Hashable {
  /// Where the rows are.
  package enum Database: Codable, Sendable, Hashable {
    /// The absolute path of a SQLite file that another program may be writing.
    case sqlite(path: String)
    /// A server: a connection string as libpq takes it, without a password, and the credential that holds one.
    case postgres(String, credential: String?)
  }

  /// Which rows are read.
  package enum Selection: Codable, Sendable, Hashable {
    case table(String)
    /// A single SELECT.
    case query(String)

    /// A query without a semicolon behind it, so that it can be a part of another.
    package static func statement(_ query: String) -> String {
      String(query.reversed().drop { $0.isWhitespace || $0 == ";" }.reversed())
    }
  }

  /// How far before the last cursor reading begins again, for rows that become visible late.
  package enum Lag: Codable, Sendable, Hashable {
    case seconds(Double)
    case number(Int64)
  }

  /// What numbers of the cursor mean, if they are times.
  package enum TimeUnit: String, Codable, Sendable, CaseIterable {
    case seconds = "UnixTime"
    case milliseconds = "UnixTimeMillis"
    case microseconds = "UnixTimeMicros"
    case days = "JulianDay"

    /// How many of these a second has.
    var perSecond: Double {
      switch self {
      case .seconds: 1
      case .milliseconds: 1_000
      case .microseconds: 1_000_000
      case .days: 1 / 86_400
      }
    }

    /// The number for a time, in seconds since 1970.
    func number(ofUnixTime seconds: Double) -> Double {
      self == .days ? seconds / 86_400 + 2_440_587.5 : seconds * perSecond
    }
  }

  package var database: Database
  package var selection: Selection
  /// The column whose values grow with each change.
  package var cursor: String
  package var lag: Lag?
  package var timeUnit: TimeUnit?

  package init(
    _ database: Database, _ selection: Selection, cursor: String, lag: Lag? = nil, timeUnit: TimeUnit? = nil
  ) {
    self.database = database
    self.selection = selection
    self.cursor = cursor
    self.lag = lag
    self.timeUnit = timeUnit
  }

  /// Tells it from other sources: a hash of the database and of what is selected.
  package var identity: String {
    let place =
      switch database {
      case .sqlite(let path): path
      case .postgres(let string, _): string
      }
    let rows =
      switch selection {
      case .table(let name): "table \(name)"
      case .query(let query): "query \(query)"
      }
    return SHA256.digest("\(place)\n\(rows)".utf8).prefix(16).map {
      String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }.joined()
  }

  /// What the rows are said to come from, where it is recorded. No secret.
  package var name: String {
    switch database {
    case .sqlite(let path): path.split(separator: "/").last.map(String.init) ?? path
    case .postgres:
      switch selection {
      case .table(let name): "PostgreSQL, \(name)"
      case .query: "PostgreSQL"
      }
    }
  }
}

extension IncrementalSource {
  /// What every submission by a recipe has in common, so that there is never more than one job of it that hasn't ended: rows that
  /// one has read must not overwrite newer ones of another.
  package static func uniqueKey(of recipe: String) -> String { JobSubmission.keyOfSources + recipe }
}

extension IncrementalSource {
  /// A value that an operator gives the cursor.
  /// - Parameter present: the value of the same column now, whose type it keeps.
  /// - Throws: ``ExtractionError`` if the lag can't be taken from it.
  package func cursorValue(_ text: String, as present: CursorValue?) throws(ExtractionError) -> CursorValue {
    var value = CursorValue(parsing: text)
    if case .text? = present { value = .text(text) }
    if case .text(let text) = value, let present {
      guard case .text = present else { throw .noNumber(value: text) }
    }
    if case .seconds? = lag, case .text(let text) = value, !value.isTime { throw .noTime(value: text) }
    _ = try value.less(lag, timeUnit, cursor: cursor)
    return value
  }
}
