/// What two tables of people have alike if and only if the same rows came in, but for the dates, which each program
/// keeps in its own way.
struct Contents: Equatable, CustomStringConvertible {
  var rows: Int
  var sums: String
  /// What the program's own check of the file says; `ok` of one that has none.
  var integrity: String

  var description: String { "\(rows) rows, sums \(sums), integrity \(integrity)" }
}

/// Something other came in than the file holds: a benchmark of that would mean nothing.
struct WrongContents: Error, CustomStringConvertible {
  var who: String
  var expected: String
  var found: String

  var description: String { "\(who) imported something else than the file holds: \(expected) expected, \(found) found" }
}
