import ControlAPI
import Foundation
import Testing

/// Rules 3, 4 and 7 (ARCHITECTURE.md), on real processes, for every form that a file may have and everything that may be done
/// with one. Seeds are printed by what fails, and can be given again as `LADE_KILL_SEED`.
///
/// One after the other: each case has daemons of its own, and a user may have 128 objects that watch folders.
@Suite("An import that is killed wherever it writes", .startsDaemons, .serialized)
struct KilledImportTests {
  @Test(
    "goes on in every format, and leaves what one run leaves", arguments: MemberFile.allCases)
  func goesOn(with file: MemberFile) async throws {
    var killed = try KilledImport(recipes: recipe("members", "upsert", file.recipe))
    let members = Members(rows: 1_500, faults: 30)
    let drop = KilledImport.Drop(
      recipe: "members", name: file.name, data: try await file.content(members, in: killed.alone))
    let job = try #require(try await killed.check([drop]).first)
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect(job.progress.records == 1_500)
    #expect(job.progress.rejected >= 8)
  }

  /// A mode, and what it does of what is counted: inserted, updated, unchanged (=), deleted, rejected, skipped.
  struct Mode: Sendable, CustomTestStringConvertible {
    let name: ImportMode
    var options = ""
    let does: String

    var testDescription: String { "\(name.rawValue) \(options)" }
    var isWhole: Bool { options.contains("atomic: file") || options.contains("dry_run") }
  }

  private static let modes = [
    Mode(name: .insert, does: "ir"),
    Mode(name: .insert, options: "properties: { manager: { key: number, unresolved: reject } }", does: "ir"),
    Mode(name: .upsert, options: "filter: \"number > 700\"", does: "iu=rs"),
    Mode(name: .update, does: "u=r"),
    Mode(name: .replace, does: "iu=dr"),
    Mode(name: .synchronise, does: "iu=dr"),
    Mode(name: .insert, options: "atomic: file", does: "ir"),
    Mode(name: .upsert, options: "atomic: file", does: "iu=r"),
    Mode(name: .update, options: "atomic: file", does: "u=r"),
    Mode(name: .replace, options: "atomic: file", does: "iu=dr"),
    Mode(name: .synchronise, options: "atomic: file", does: "iu=dr"),
    Mode(name: .upsert, options: "dry_run: true", does: "iu=r"),
    Mode(name: .synchronise, options: "dry_run: true", does: "iu=dr"),
  ]

  @Test(
    "goes on in every mode, by batch and by file, and leaves what one run leaves",
    arguments: modes)
  func goesOn(in mode: Mode) async throws {
    let recipes = recipe("before", "insert") + recipe("members", mode.name.rawValue, mode.options)
    var killed = try KilledImport(recipes: recipes, isWhole: mode.isWhole)
    let before = Members(rows: 1_000)
    let members = Members(
      rows: 1_500, from: 500, faults: 30, kinds: [.badInteger, .badDate, .missingName, .duplicateKey], version: 2)
    let jobs = try await killed.check(
      before: [.init(recipe: "before", name: "before.csv", data: before.csv)],
      [.init(recipe: "members", name: "members.csv", data: members.csv)])
    let job = try #require(jobs.first)
    #expect(job.state == .completed, "\(job.reason ?? "")")
    let counts = job.progress
    let done = [
      (counts.inserted, "i"), (counts.updated, "u"), (counts.unchanged, "="), (counts.deleted, "d"),
      (counts.rejected, "r"), (counts.skipped, "s"),
    ]
    #expect(done.filter { $0.0 > 0 }.map(\.1).joined() == mode.does)
    if mode.options.contains("dry_run") {
      #expect(try await killed.alone.sqlite("SELECT count(*), max(number) FROM Member") == "1000,999")
    }
  }

  @Test("is known afterwards, where the recipe says so, and isn't before")
  func known() async throws {
    var killed = try KilledImport(recipes: recipe("members", "upsert", "skip_known_files: true"))
    let members = Members(rows: 1_000, faults: 20)
    let jobs = try await killed.check(
      ["first.csv", "again.csv"].map { .init(recipe: "members", name: $0, data: members.csv) })
    #expect(jobs.map(\.progress.records) == [1_000, 0])
    #expect(jobs.last?.reason?.contains("the same file was imported") == true, "\(jobs.last?.reason ?? "")")
    #expect(try await killed.alone.sqlite("SELECT name FROM _lade_imported") == "'first.csv'")
  }

  @Test(
    "goes on with the members of a feed, and leaves what one run leaves",
    arguments: ["mode: upsert", "mode: synchronise", "mode: synchronise, atomic: file"])
  func goesOn(withFeed options: String) async throws {
    let recipes = """
        before: { store: main, entity: "*" }
        feed: { store: main, entity: "*", batch_size: 20, \(options) }
      """
    var killed = try KilledImport(
      Transit.model, recipes: recipes, query: Self.transit, isWhole: options.contains("atomic"), kills: 8)
    let before = try feed(trips: 0..<20)
    let job = try #require(
      try await killed.check(
        before: [.init(recipe: "before", name: "before.zip", data: before)],
        [.init(recipe: "feed", name: "feed.zip", data: feed(trips: 10..<40))]
      ).first)
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect(job.progress.rejected == 1)
    #expect((job.progress.deleted > 0) == options.contains("synchronise"))
    #expect(
      try await killed.alone.sqlite("SELECT count(*) FROM Trip") == (options.contains("synchronise") ? "33" : "43"))
  }

  /// A zip of the small feed with more trips, each of ten stops, and a stop that can't be imported.
  private func feed(trips: Range<Int>) throws -> Data {
    var files = Transit.small
    for trip in trips {
      files["trips", default: ""] += "F2,week,G-\(trip),Island,0\n"
      for stop in 0..<10 {
        files["stop_times", default: ""] +=
          "G-\(trip),\(stop + 9):00:00,\(stop + 9):01:00,\(stop % 2 == 0 ? "Q1" : "I1"),\(stop)\n"
      }
    }
    files["stops", default: ""] += "X,Nowhere,far,out,0,\n"
    return try Packed.zip(files.sorted { $0.key < $1.key }.map { ($0.key + ".txt", Data($0.value.utf8)) })
  }

  private static let transit = """
    SELECT agencyID, name, timezone FROM Agency ORDER BY 1;
    SELECT r.routeID, r.longName, a.agencyID FROM Route r LEFT JOIN Agency a ON r.agency_id = a.id ORDER BY 1;
    SELECT s.stopID, s.name, p.stopID FROM Stop s LEFT JOIN Stop p ON s.parent_id = p.id ORDER BY 1;
    SELECT t.tripID, r.routeID, c.serviceID FROM Trip t LEFT JOIN Route r ON t.route_id = r.id
      LEFT JOIN Calendar c ON t.service_id = c.id ORDER BY 1;
    SELECT st.tripID, st.sequence, st.arrival, t.tripID, s.stopID FROM StopTime st
      LEFT JOIN Trip t ON st.trip_id = t.id LEFT JOIN Stop s ON st.stop_id = s.id ORDER BY 1, 2;
    SELECT f.fareID, r.routeID FROM FareRule fr LEFT JOIN FareAttribute f ON fr.fare_id = f.id
      LEFT JOIN Route r ON fr.route_id = r.id ORDER BY 1, 2;
    SELECT c.serviceID, d.date FROM CalendarDate d LEFT JOIN Calendar c ON d.service_id = c.id ORDER BY 1, 2;
    SELECT shapeID, sequence, latitude FROM ShapePoint ORDER BY 1, 2
    """

  private func recipe(_ name: String, _ mode: String, _ more: String = "") -> String {
    "  \(name): { store: main, entity: Member, mode: \(mode), batch_size: 50, reject_limit: none"
      + (more.isEmpty ? "" : ", " + more) + " }\n"
  }
}
