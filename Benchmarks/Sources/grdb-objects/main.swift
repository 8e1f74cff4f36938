// grdb-objects FILE WORK-FOLDER
//
// GRDB's side of `bench objects`: its records, written by hand as its documentation advises for speed, on the same
// file. Prints the seconds of each piece of work as JSON.

import BenchSupport
import Foundation
import GRDB

/// The table's row as a record.
struct Item: FetchableRecord, PersistableRecord {
  static let databaseTableName = "Item"
  var values: (Int?, Int?, Int?, Int?, Int?, Int?, Int?, Int?, Int?, Int?)

  init(number: Int) {
    func value(_ slot: Int) -> Int { (number &* 7919 &+ slot &* 104_729) % 1_000_003 }
    values = (value(0), value(1), value(2), value(3), value(4), value(5), value(6), value(7), value(8), value(9))
  }

  init(row: Row) {
    values = (row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10])
  }

  func encode(to container: inout PersistenceContainer) {
    container["i0"] = values.0
    container["i1"] = values.1
    container["i2"] = values.2
    container["i3"] = values.3
    container["i4"] = values.4
    container["i5"] = values.5
    container["i6"] = values.6
    container["i7"] = values.7
    container["i8"] = values.8
    container["i9"] = values.9
  }
}

func measure(_ file: String, _ folder: String) throws -> Timings {
  var timings = Timings()
  let pool = try DatabasePool(path: file)
  func fetch(_ request: SQLRequest<Item>) throws -> Int64 {
    try pool.read { db in
      var sum: Int64 = 0
      for item in try request.fetchAll(db) { sum &+= Int64((item.values.0 ?? 0) &+ (item.values.9 ?? 0)) }
      return sum
    }
  }
  let columns = "t.id, " + (0..<10).map { "t.i\($0)" }.joined(separator: ", ")
  _ = try fetch(SQLRequest(sql: "SELECT \(columns) FROM Item t WHERE i1 < 1000"))
  try timings.measure("fetch") { try fetch(SQLRequest(sql: "SELECT \(columns) FROM Item t")) }
  try timings.measure("fetch by key path, sorted") {
    try fetch(
      SQLRequest(
        sql: "SELECT \(columns) FROM Item t LEFT JOIN Box b ON b.id = t.box_id WHERE b.rank >= 50 ORDER BY t.i5, t.id"))
  }
  try timings.measure("fetch by index") {
    try fetch(SQLRequest(sql: "SELECT \(columns) FROM Item t WHERE t.i1 BETWEEN 100000 AND 300000"))
  }

  // An empty store that the other side made: the same tables, indexes and pages.
  let new = try DatabasePool(path: folder + "/items.sqlite")
  try timings.measure("insert") {
    let items = (0..<50_000).map { Item(number: $0) }
    try new.write { db in
      for item in items { try item.insert(db) }
    }
    return 50_000
  }
  return timings
}

let arguments = CommandLine.arguments
do {
  guard arguments.count == 3 else {
    FileHandle.standardError.write(Data("usage: grdb-objects FILE FOLDER\n".utf8))
    exit(64)
  }
  try measure(arguments[1], arguments[2]).report()
} catch {
  FileHandle.standardError.write(Data("grdb-objects: \(error)\n".utf8))
  exit(1)
}
