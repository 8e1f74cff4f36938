import Importing
import LadeTypes
import StrictYAML

extension IncrementalSource {
  enum Key: String, CaseIterable {
    case sqlite, postgres, credential, table, query, cursor, lag
    case dateFormat = "date_format"
  }

  private static let lags = Duration.zero ... .seconds(366 * 86_400)

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    let database = Database(section)
    let cursor = section.required(.cursor, "the column whose values grow with each change")?.anyText()
    let table = section[.table]?.anyText()
    let query = section[.query]?.text()
    if section[.table] == nil, section[.query] == nil { section.report("it needs a `table` or a `query`") }
    if section[.table] != nil, section[.query] != nil {
      section[.query]?.conflict("there is a `table` as well; give one of them")
    }
    let unit = section[.dateFormat]?.word(of: TimeUnit.self)
    let lag = section[.lag]?.lag(Self.lags)
    if case .number? = lag, unit != nil {
      section[.lag]?.conflict("with a `date_format` it is a duration, such as 10m")
    }
    guard section.isWithoutProblems, let database, let cursor,
      let selection = table.map(Selection.table) ?? query.map(Selection.query)
    else { return nil }
    self.init(database, selection, cursor: cursor, lag: lag, timeUnit: unit)
  }
}

extension IncrementalSource.Database {
  fileprivate init?(_ section: YAMLSection<IncrementalSource.Key>) {
    if section[.sqlite] == nil, section[.postgres] == nil { section.report("it needs `sqlite` or `postgres`") }
    if section[.sqlite] != nil {
      section[.postgres]?.conflict("there is `sqlite` as well; give one of them")
      section[.credential]?.conflict("only `postgres` has one")
    }
    if let path = section[.sqlite]?.absolutePath() {
      self = .sqlite(path: path)
    } else if let string = section[.postgres]?.connectionString() {
      self = .postgres(string, credential: section[.credential]?.credentialName())
    } else {
      return nil
    }
  }
}

extension YAMLValue {
  fileprivate func absolutePath() -> String? {
    guard let path = anyText() else { return nil }
    if path.hasPrefix("/"), !path.utf8.contains(0) { return path }
    wrong("it must be an absolute path")
    return nil
  }

  /// A duration, or a number.
  fileprivate func lag(_ allowed: ClosedRange<Duration>) -> IncrementalSource.Lag? {
    guard let text = scalar("a duration such as 10m, or a number") else { return nil }
    if let number = Int64(text) {
      if number < 0 { wrong("it must be 0 or more") }
      return number < 0 ? nil : .number(number)
    }
    return duration(allowed).map { .seconds($0.seconds) }
  }
}
