import BenchSupport
import Foundation

/// As ``Relationship``, in a feed of two files that refer to each other: each row refers to an object that comes later. Against
/// ours with these objects there.
struct LateRelationship: Measurement {
  let name = "late"
  let summary = "a to-one relationship by key to 100,000 objects that come later, against ours with these there"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    guard let zip = programInPath("zip") else {
      say("  zip isn't installed: left out.")
      return []
    }
    let clubs = try bench.load(.clubs, rows: LoadFile.clubs)
    let load = try bench.load(.withClubs)
    let archive = try Self.archive([("people", load), ("clubs", clubs)], on: bench, by: zip)
    let expected = try bench.sqlite3?.clubs(in: load.file)
    func contents(of database: URL) throws -> Contents? {
      let found = try bench.sqlite3?.clubs(of: database)
      guard found == expected else {
        throw WrongContents(who: "lade-import", expected: "clubs \(expected ?? "")", found: found ?? "")
      }
      return try bench.sqlite3?.contents(of: database)
    }
    let late = Side(
      name: "ours, late", run: { try Ours(model: .captains, entity: "*", mode: "upsert").runFeed($0, from: archive) },
      contents: contents)
    var there = bench.ours(load, .clubs, name: "ours, there")
    there.prepare = {
      try Ours(model: .clubs, entity: "Club").run($0, from: clubs.file, expecting: [clubs.rows, 0, 0])
    }
    there.contents = contents
    let standings = try bench.contest([late, there])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure(
        "to-one relationship to later objects", rows: load.rows, ours, standings[1], peer: "ours", atLeast: 0.2)
    ]
  }

  /// The files as one zip, in that order.
  private static func archive(_ files: [(String, LoadFile)], on bench: Workbench, by zip: URL) throws -> URL {
    let folder = bench.folder.appending(path: "results/load/late-\(files[0].1.rows)")
    let archive = folder.appendingPathExtension("zip")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, load) in files {
      let file = folder.appending(path: name + ".csv")
      if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
      try FileManager.default.linkItem(at: load.file, to: file)
    }
    if FileManager.default.fileExists(atPath: archive.path) { try FileManager.default.removeItem(at: archive) }
    let names = files.map { folder.appending(path: $0.0 + ".csv").path }
    _ = try MeasuredProgram(zip.path, ["-q", "-j", archive.path] + names).run()
    return archive
  }
}
