import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A transit feed through hot folders", .startsDaemons)
struct TransitTests {
  private static let caltrain = Products.package.deletingLastPathComponent()
    .appendingPathComponent("shared/data/gtfs/caltrain2016.zip")
  private static let canUnpack =
    FileManager.default.fileExists(atPath: caltrain.path) && Products.system("unzip") != nil

  @Test("of a few lines is in the store whole and related, and a second drop changes nothing")
  func small() async throws {
    let folder = try DaemonFolder(model: Transit.model, recipes: Transit.recipes)
    try await check(Transit.small.mapValues { Data($0.utf8) }, in: folder) { () async throws in
      #expect(try await folder.count("Route", where: "agency.name == 'Harbour, Boats & Sons'") == 2)
      #expect(try await folder.sqlite("SELECT price FROM FareAttribute") == "4.5")
      let night = try await folder.sqlite("SELECT arrival FROM StopTime WHERE tripID = 'F2-1' ORDER BY sequence")
      #expect(night == "'24:10:00'\n'24:40:00'")
    }
  }

  @Test(
    "of Caltrain is in the store whole and related, and a second drop changes nothing",
    .enabled(if: canUnpack, "the shared data aren't beside the package, or unzip isn't installed"))
  func whole() async throws {
    let folder = try DaemonFolder(model: Transit.model, recipes: Transit.recipes)
    let feed = try await unpacked(in: folder)
    try await check(feed, in: folder) { () async throws in
      #expect(try await folder.count("StopTime") == 3103)
      #expect(try await folder.count("Stop", where: "parent != nil") == 64)
    }
  }

  @Test(
    "of a few lines goes in by one drop of its zip, whole and related, and a second drop changes nothing")
  func smallZip() async throws {
    let feed = Transit.small.mapValues { Data($0.utf8) }
    var files = feed.map { ($0.key + ".txt", $0.value) }.sorted { $0.0 < $1.0 }
    files.append(("LICENSE.md", Data("Do as you like.\n".utf8)))
    let folder = try DaemonFolder(model: Transit.model, recipes: Transit.wholeRecipe)
    try await checkZip(Packed.zip(files), of: feed, in: folder)
    // One reject, in the file of its member.
    let at = try #require(files.firstIndex { $0.0 == "stops.txt" })
    files[at].1 += Data("X,Nowhere,far,out,0,\n".utf8)
    let daemon = try await folder.start()
    let job = try await folder.imported(Packed.zip(files), as: "third.zip", into: "feed")
    #expect(job.state == .completed && job.progress.rejected == 1, "\(job.reason ?? "")")
    let rejects = try #require(job.rejectsFile)
    #expect(try FileManager.default.contentsOfDirectory(atPath: rejects) == ["stops.txt"])
    try await daemon.stop()
  }

  @Test(
    "of Caltrain goes in by one drop of the zip as it is, and a second drop changes nothing",
    .enabled(if: canUnpack, "the shared data aren't beside the package, or unzip isn't installed"))
  func wholeZip() async throws {
    let folder = try DaemonFolder(model: Transit.model, recipes: Transit.wholeRecipe)
    try await checkZip(
      Data(contentsOf: Self.caltrain), of: try await unpacked(in: folder), in: folder)
  }

  @Test(
    "of a few lines goes in by one drop of a workbook with a sheet for each file, and a second drop changes nothing")
  func workbook() async throws {
    let feed = Transit.small.mapValues { Data($0.utf8) }
    var sheets = feed.sorted { $0.key < $1.key }.map { name, data in
      (name, PlainCSV.rows(data).map { row in row.map { $0.isEmpty ? WorkbookText.Cell.empty : .text($0) } })
    }
    sheets.append(("Read me", [[.text("Do as you like.")]]))
    let folder = try DaemonFolder(model: Transit.model, recipes: Transit.wholeRecipe)
    try await checkZip(WorkbookText.file(sheets), of: feed, in: folder)
    // One reject, in the file of its sheet, which goes into the same entity when it is corrected and dropped.
    let at = try #require(sheets.firstIndex { $0.0 == "stops" })
    let header = sheets[at].1[0]
    let wrong = ["stop_id": "X", "stop_name": "Nowhere", "stop_lat": "far", "stop_lon": "0"]
    sheets[at].1.append(
      header.map { cell in
        guard case .text(let name) = cell, let text = wrong[name] else { return .empty }
        return .text(text)
      })
    let daemon = try await folder.start()
    let job = try await folder.imported(WorkbookText.file(sheets), as: "third.xlsx", into: "feed")
    #expect(job.state == .completed && job.progress.rejected == 1, "\(job.reason ?? "")")
    let rejects = try #require(job.rejectsFile)
    #expect(try FileManager.default.contentsOfDirectory(atPath: rejects) == ["stops.ndjson"])
    let reject = try String(contentsOfFile: rejects + "/stops.ndjson", encoding: .utf8)
    #expect(reject.contains("(stops!"))
    let mended = reject.replacingOccurrences(of: "\"far\"", with: "1.5")
    let again = try await folder.imported(Data(mended.utf8), as: "stops.ndjson", into: "feed")
    #expect(again.state == .completed && again.progress.inserted == 1, "\(again.reason ?? "")")
    try await daemon.stop()
  }

  /// Imports an archive twice, and compares what is in the store with what its files say.
  private func checkZip(_ zip: Data, of feed: [String: Data], in folder: DaemonFolder) async throws {
    let records = feed.mapValues { PlainCSV.records($0) }
    let rows = Int64(records.values.reduce(0) { $0 + $1.count })
    let daemon = try await folder.start()
    let first = try await folder.imported(zip, as: "first.zip", into: "feed")
    #expect(first.state == .completed, "\(first.reason ?? "")")
    #expect((first.progress.records, first.progress.inserted, first.progress.rejected) == (rows, rows, 0))
    #expect(first.entity == "*" && first.rejectsFile == nil)
    try await compareCounts(records, in: folder)
    try await compareRelationships(records, in: folder)
    let second = try await folder.imported(zip, as: "second.zip", into: "feed")
    #expect(second.state == .completed, "\(second.reason ?? "")")
    #expect((second.progress.inserted, second.progress.updated, second.progress.unchanged) == (0, 0, rows))
    try await compareCounts(records, in: folder)
    #expect(try await folder.sqlite("SELECT count(*) FROM _lade_checkpoint") == "0")
    try await daemon.stop()
  }

  /// The files of Caltrain's feed.
  private func unpacked(in folder: DaemonFolder) async throws -> [String: Data] {
    let unzip = try #require(Products.system("unzip"))
    let unpacked = try await ProgramOutput.of(
      unzip, ["-q", Self.caltrain.path, "-d", folder.file("feed")], environment: Products.environment([:]),
      files: folder.file("unzip"))
    try #require(unpacked.status == 0, "\(unpacked.error)")
    var feed: [String: Data] = [:]
    for (name, _) in Transit.files { feed[name] = try folder.data("feed/\(name).txt") }
    return feed
  }

  /// Imports a feed twice, and compares what is in the store with what the files say.
  private func check(_ feed: [String: Data], in folder: DaemonFolder, more: () async throws -> Void) async throws {
    let records = feed.mapValues { PlainCSV.records($0) }
    let daemon = try await folder.start()
    for job in try await drop(feed, in: folder) {
      let rows = try Int64(#require(records[job.recipe ?? ""]).count)
      #expect(job.state == .completed, "\(job.source ?? ""): \(job.reason ?? "")")
      #expect(job.progress.inserted == rows, "\(job.source ?? "")")
      #expect((job.progress.records, job.progress.rejected) == (rows, 0), "\(job.source ?? "")")
    }
    try await compareCounts(records, in: folder)
    try await compareRelationships(records, in: folder)
    try await more()

    for job in try await drop(feed, in: folder) {
      #expect(job.state == .completed)
      #expect((job.progress.inserted, job.progress.updated) == (0, 0), "\(job.source ?? "")")
      #expect(job.progress.unchanged == job.progress.records)
      let sheet = try await folder.ladectl("show", "\(job.id)").text
      #expect(sheet.contains("0 inserted, 0 updated"), "\(sheet)")
    }
    try await compareCounts(records, in: folder)
    try await compareRelationships(records, in: folder)
    try await daemon.stop()
  }

  /// Drops all the files at once, those that others point to first; their jobs when they have ended.
  private func drop(_ feed: [String: Data], in folder: DaemonFolder) async throws -> [Job] {
    let before = Set(try await folder.jobs().map(\.id))
    for (name, _) in Transit.files { try folder.drop(try #require(feed[name]), as: name + ".txt", into: name) }
    let jobs = try await folder.jobs().filter { !before.contains($0.id) }
    #expect(jobs.sorted { $0.id < $1.id }.map(\.recipe) == Transit.files.map(\.0), "taken in the order of the drops")
    var ended: [Job] = []
    for job in jobs { ended.append(try await folder.ended(job.id)) }
    return ended
  }

  private func compareCounts(_ records: [String: [[String: String]]], in folder: DaemonFolder) async throws {
    for (name, entity) in Transit.files {
      let rows = records[name]?.count ?? -1
      #expect(try await folder.count(entity) == rows, "\(entity)")
      #expect(try await folder.sqlite("SELECT count(*) FROM \(entity)") == "\(rows)", "\(entity)")
    }
  }

  private func compareRelationships(_ records: [String: [[String: String]]], in folder: DaemonFolder) async throws {
    func expect(_ query: String, _ name: String, _ row: ([String: String]) -> [String?]) async throws {
      let found = try await folder.sqlite(query).split(separator: "\n").map(String.init).sorted()
      let expected = (records[name] ?? []).map { record in
        row(record).map { $0.flatMap { $0.isEmpty ? nil : "'\($0)'" } ?? "NULL" }.joined(separator: ",")
      }
      #expect(found == expected.sorted(), "\(name)")
    }
    try await expect(
      """
      SELECT st.tripID, CAST(st.sequence AS TEXT), st.arrival, t.tripID, s.stopID
      FROM StopTime st LEFT JOIN Trip t ON st.trip_id = t.id LEFT JOIN Stop s ON st.stop_id = s.id
      """, "stop_times"
    ) { [$0["trip_id"], $0["stop_sequence"], $0["arrival_time"], $0["trip_id"], $0["stop_id"]] }
    try await expect(
      """
      SELECT t.tripID, r.routeID, c.serviceID
      FROM Trip t LEFT JOIN Route r ON t.route_id = r.id LEFT JOIN Calendar c ON t.service_id = c.id
      """, "trips"
    ) { [$0["trip_id"], $0["route_id"], $0["service_id"]] }
    try await expect(
      "SELECT s.stopID, p.stopID FROM Stop s LEFT JOIN Stop p ON s.parent_id = p.id", "stops"
    ) { [$0["stop_id"], $0["parent_station"]] }
    try await expect(
      "SELECT r.routeID, a.agencyID FROM Route r LEFT JOIN Agency a ON r.agency_id = a.id", "routes"
    ) { [$0["route_id"], $0["agency_id"]] }
    try await expect(
      """
      SELECT c.serviceID, strftime('%Y%m%d', d.date) FROM CalendarDate d LEFT JOIN Calendar c ON d.service_id = c.id
      """, "calendar_dates"
    ) { [$0["service_id"], $0["date"]] }
    try await expect(
      """
      SELECT f.fareID, r.routeID, fr.origin FROM FareRule fr
      LEFT JOIN FareAttribute f ON fr.fare_id = f.id LEFT JOIN Route r ON fr.route_id = r.id
      """, "fare_rules"
    ) { [$0["fare_id"], $0["route_id"], $0["origin_id"]] }

    // The same by the object layer, over two relationships.
    #expect(try await folder.count("StopTime", where: "trip == nil OR stop == nil") == 0)
    let routes = Dictionary(grouping: records["trips"] ?? [], by: { $0["route_id"] ?? "" })
    for (route, trips) in routes {
      let names = Set(trips.compactMap { $0["trip_id"] })
      let rows = (records["stop_times"] ?? []).count { names.contains($0["trip_id"] ?? "") }
      #expect(try await folder.count("StopTime", where: "trip.route.routeID == '\(route)'") == rows)
    }
  }
}
