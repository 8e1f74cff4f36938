/// Each row refers to one of 100,000 objects that are there already, by its key; against ours without that.
struct Relationship: Measurement {
  let name = "relationship"
  let summary = "a to-one relationship by key to 100,000 objects, against ours without it"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let plain = try bench.load()
    let clubs = try bench.load(.clubs, rows: LoadFile.clubs)
    let load = try bench.load(.withClubs)
    let expected = try bench.sqlite3?.clubs(in: load.file)
    var related = bench.ours(load, .clubs, name: "ours, with clubs")
    related.prepare = {
      try Ours(model: .clubs, entity: "Club").run($0, from: clubs.file, expecting: [clubs.rows, 0, 0])
    }
    related.contents = { database in
      let found = try bench.sqlite3?.clubs(of: database)
      guard found == expected else {
        throw WrongContents(who: "lade-import", expected: "clubs \(expected ?? "")", found: found ?? "")
      }
      return try bench.sqlite3?.contents(of: database)
    }
    let standings = try bench.contest([related, bench.ours(plain)])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure(
        "to-one relationship by key", rows: load.rows, ours, standings[1], peer: "ours", atLeast: 0.6)
    ]
  }
}
