import Foundation
import ManagedObjects

@testable import Importing

/// Files of an archive, and what an import of them leaves behind.
enum Feed {
  /// People, their countries and their badges, in an order in which no reference leads to an object that exists yet; and files
  /// that belong to no entity.
  static let staff = [
    ("feed/badges.csv", "id,text,owner,next\n1,One,p1,2\n2,Two,p2,\n3,Three,zz,1\n"),
    (
      "feed/people.csv",
      "code,name,age,country_code,boss\np1,Ann,40,DE,p2\np2,Bob,x,FR,\np3,Cy,30,FR,p1\np2,Bob,50,FR,\np4,Di,,XX,p3\n"
    ),
    ("README.md", "# read me\n"), ("feed/people.pdf", "%PDF"),
    ("feed/countries.csv", "code,name\nDE,Germany\nFR,France\n"),
    ("notes.txt", "some text\n"),
  ]

  /// Clubs that have captains, and players that have clubs.
  static let clubs = [
    ("players.csv", "number,age,club\n1,20,Reds\n2,21,Reds\n3,x,Blues\n4,22,Blues\n5,23,Greens\n"),
    ("clubs.csv", "name,captain\nReds,2\nBlues,4\nWhites,9\n"),
  ]

  static func zip(_ files: [(String, String)]) throws -> [UInt8] {
    try Packing.zip(files.map { ($0.0, Array($0.1.utf8)) })
  }

  /// Imports files as an archive of them.
  @discardableResult
  static func run(
    _ files: [(String, String)], in room: ImportRoom, as name: String = "feed.zip", mode: ImportMode? = nil,
    batch: Int = 2, limit: Int? = 1000, share: Double? = nil, job: String = "1", stopAtAsking: Int = .max
  ) throws -> ImportEnd {
    let bytes = try name.hasSuffix(".zip") ? zip(files) : Packing.tar(files.map { ($0.0, Array($0.1.utf8)) }, .gzip)
    if FileManager.default.contents(atPath: room.file(name).path) != Data(bytes) {
      try Data(bytes).write(to: room.file(name))
    }
    room.isSourceKept = true
    return try room.run(
      "", as: name, into: "*", mode: mode, batch: batch, limit: limit, share: share, job: job,
      stopAtAsking: stopAtAsking)
  }

  /// All that an import of a feed leaves behind.
  struct Traces: Equatable {
    let rows: [String: [String]]
    let counts: ImportCounts
    let rejects: [String: String]
    let kept: Int

    init(_ room: ImportRoom, _ end: ImportEnd, job: String = "1") throws {
      rows = try [
        "Person": room.rows("code", "name", "age", "country.code", "boss.code"),
        "Country": room.rows("code", "name", of: "Country"),
        "Badge": room.rows("id", "owner.code", "next.id", of: "Badge"),
        "Club": room.rows("name", "captain.number", of: "Club"),
        "Player": room.rows("number", "age", "club.name", of: "Player"),
      ]
      counts = end.counts
      rejects = try Feed.rejects(room, job)
      kept = try room.count(of: ImportModel.referenceEntity) + room.count(of: ImportModel.asideEntity)
    }
  }

  /// The reject files, by name.
  static func rejects(_ room: ImportRoom, _ job: String = "1") throws -> [String: String] {
    let folder = room.rejectsFile(job)
    guard FileManager.default.fileExists(atPath: folder.path) else { return [:] }
    var files: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      files[name] = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
    return files
  }
}
