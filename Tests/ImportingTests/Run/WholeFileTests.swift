import Foundation
import GRDB
import ManagedObjects
import TestSupport
import Testing

@testable import Importing

/// Everything that a store holds of an import, as another thread reads it.
private struct Stored: Equatable {
  let people: [String]
  let checkpoints: Int

  init(_ room: ImportRoom) throws {
    let (coordinator, done) = (room.coordinator, DispatchSemaphore(value: 0))
    let result = Recorder<Result<([String], Int), any Error>>()
    Thread.detachNewThread {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      result.note(
        Result {
          let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map { person in
            ["code", "name", "age", "email"].map { person.value(forKey: $0)?.plainText ?? "" }.joined(separator: "|")
          }
          let checkpoints = FetchRequest<ManagedObject>(entityName: ImportModel.checkpointEntity)
          return (people.sorted(), try context.count(for: checkpoints))
        })
      done.signal()
    }
    done.wait()
    (people, checkpoints) = try #require(result.items.first).get()
  }
}

@Suite("An import by file")
struct WholeFileTests {
  private static let cases = ResumeTests.cases.flatMap { what in StoreKind.allCases.map { (what, $0) } }

  private func room(_ kind: StoreKind) throws -> ImportRoom {
    let room = try PeopleSample.room(kind)
    room.adjust = { $0.atomicity = .file }
    return room
  }

  @Test("leaves what an import by batch leaves, and no reader sees anything before", arguments: cases)
  func success(_ what: (sample: PeopleSample, mode: ImportMode), kind: StoreKind) throws {
    let (sample, mode) = what
    let usual = try PeopleSample.room(kind)
    let expected = try Traces(usual, usual.run(sample.text, as: sample.name, mode: mode, batch: 5))
    let room = try room(kind)
    let (before, saves) = (try Stored(room), Saves(of: room.coordinator))
    var seen: [Result<Stored, any Error>] = []
    let end = try room.run(sample.text, as: sample.name, mode: mode, batch: 5) { _ in
      #expect(saves.total == 0)
      seen.append(Result { try Stored(room) })
    }
    #expect(seen.count > 4)
    for stored in seen { #expect(try stored.get() == before) }
    #expect(room.reports.map(\.counts.records) == room.reports.map(\.counts.records).sorted())
    #expect(try Traces(room, end) == expected)
    #expect(saves.count(of: "Person") > 0)
    // The job has ended, and knows it.
    #expect(try Traces(room, room.run(sample.text, as: sample.name, mode: mode, batch: 5)) == expected)
  }

  @Test("that is killed at any write leaves nothing, and then what one run leaves", arguments: StoreKind.allCases)
  func killed(_ kind: StoreKind) throws {
    let sample = PeopleSample.csv
    let whole = try room(kind)
    let before = try Stored(whole)
    let expected = try Traces(whole, whole.run(sample.text, as: sample.name, batch: 5))
    let after = try Stored(whole)
    for moment in FaultyStore.Plan.Moment.allCases {
      var write = 1
      while true {
        let room = try room(kind)
        room.plan.fail(write: write, forGood: write % 2 == 0, moment)
        #expect(throws: FaultyStore.Fault.self, "write \(write)") {
          try room.run(sample.text, as: sample.name, batch: 5)
        }
        if room.plan.writes < write { break }
        let left = try Stored(room)
        #expect(left == before || left == after, "write \(write), \(moment)")
        try room.reopen()
        #expect(
          try Traces(room, room.run(sample.text, as: sample.name, batch: 5)) == expected, "write \(write), \(moment)")
        write += 1
        if left == after { break }
        // Once it is committed, only waiting for the disk is left to fail.
        if write > 40 { break }
      }
      #expect(write > 6 && write < 40)
    }
  }

  @Test("that fails in the middle leaves the store as it was, and its rejects", arguments: StoreKind.allCases)
  func failed(_ kind: StoreKind) throws {
    let room = try room(kind)
    let before = try Stored(room)
    let saves = Saves(of: room.coordinator)
    let text = "code,name,age\n" + (0..<20).map { "n\($0),New,\($0 % 3 == 0 ? "x" : "1")\n" }.joined()
    let error = try room.failure(text, batch: 3, limit: 4)
    #expect(error as? MappingError != nil)
    #expect(try Stored(room) == before && saves.total == 0)
    #expect(room.refusals().count == 5)
    let last = try #require(room.reports.last)
    #expect(last.counts.inserted == 0 && last.counts.rejected == 5 && last.counts.records == 15)
    // With a higher limit the same job starts again, and so does its reject file.
    #expect(try room.run(text, batch: 3, limit: 10).tally == "13i 0u 0= 7r 0?")
    #expect(room.refusals().count == 7)

    let json = "[" + (0..<20).map { "{\"code\":\"j\($0)\",\"name\":\"J\"}," }.joined() + "{\"code\":,}]"
    let middle = try Stored(room)
    #expect(try room.failure(json, as: "b.json", batch: 3, job: "2") is ReaderError)
    #expect(try Stored(room) == middle)
  }

  @Test(
    "that is stopped has committed nothing, says so, and starts again", arguments: StoreKind.allCases, [1, 3, 6, 7])
  func stopped(_ kind: StoreKind, _ asking: Int) throws {
    let sample = PeopleSample.csv
    let usual = try room(kind)
    let expected = try Traces(usual, usual.run(sample.text, as: sample.name, batch: 5))
    let room = try room(kind)
    let before = try Stored(room)
    let end = try room.run(sample.text, as: sample.name, batch: 5, stopAtAsking: asking)
    #expect(!end.isFinished && end.counts == ImportCounts())
    #expect(try Stored(room) == before)
    #expect((room.rejects() ?? "").isEmpty)
    #expect(try Traces(room, room.run(sample.text, as: sample.name, batch: 5)) == expected)
  }

  @Test("goes without indexes that readers have all the time")
  func indexes() throws {
    let room = try ImportRoom(.sqlite)
    let all = try indexes(of: room)
    let text = "code,name\n" + (0..<100).map { "P\($0),Name \($0)\n" }.joined()
    for (job, isStopped) in [("1", true), ("2", false)] {
      var seen: Set<[String]> = []
      room.adjust = { $0.atomicity = .file }
      try room.run(text, batch: 10, job: job, stopAfter: isStopped ? 4 : .max, largeLoad: 40) { _ in
        do { seen.insert(try indexes(of: room)) } catch { Issue.record(error) }
      }
      #expect(seen == [all])
      #expect(try indexes(of: room) == all)
      #expect(try room.count(of: "Person") == (isStopped ? 0 : 100))
    }
    room.adjust = { $0.isDryRun = true }
    let others = "code,name\n" + (0..<900).map { "Q\($0),Name \($0)\n" }.joined()
    #expect(try room.run(others, as: "b.csv", batch: 10, job: "3", largeLoad: 40).counts.inserted == 900)
    #expect(try indexes(of: room) == all && room.count(of: "Person") == 100)
    // No index is missing: the end of the next load rebuilds none.
    room.adjust = { _ in }
    try room.run(others, as: "b.csv", batch: 10, job: "4", largeLoad: 40)
    #expect(try indexes(of: room) == all && room.count(of: "Person") == 1000)
  }

  private func indexes(of room: ImportRoom) throws -> [String] {
    try DatabaseQueue(path: room.database.path).read { db in
      try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'Person' ORDER BY name")
    }
  }

  // MARK: Dry runs

  @Test("a dry run says what the real one will say, and writes nothing but rejects", arguments: cases)
  func dryRun(_ what: (sample: PeopleSample, mode: ImportMode), kind: StoreKind) throws {
    let (sample, mode) = what
    let room = try PeopleSample.room(kind)
    let (before, saves) = (try Stored(room), Saves(of: room.coordinator))
    room.adjust = { $0.isDryRun = true }
    for _ in 1...2 {
      let end = try room.run(sample.text, as: sample.name, mode: mode, batch: 5)
      let (rejects, reports) = (room.rejects(), room.reports)
      #expect(try Stored(room) == before && saves.total == 0)
      #expect(end.isFinished && end.notes.first == "dry run: nothing was committed")
      #expect(end == .finished(end.progress, .dryRun, notes: Array(end.notes.dropFirst())))

      let other = try PeopleSample.room(kind)
      let real = try other.run(sample.text, as: sample.name, mode: mode, batch: 5)
      #expect(real.counts == end.counts && Array(end.notes.dropFirst()) == real.notes)
      #expect(rejects == other.rejects() && reports == other.reports)
    }
    room.adjust = { _ in }
    let real = try room.run(sample.text, as: sample.name, mode: mode, batch: 5)
    #expect(real.isFinished)
    #expect(try Stored(room) != before)
  }

  @Test("programs that link the library have both")
  func fileImport() throws {
    let room = try ImportRoom(.sqlite)
    let source = room.file("people.csv")
    try Data("code,name,age\na,Ann,1\nb,Bob,x\n".utf8).write(to: source)
    var file = FileImport(into: "Person", of: room.coordinator)
    file.options.isDryRun = true
    let dry = try file.run(source)
    #expect(dry.inserted == 1 && dry.rejected == 1 && dry.notes.first == "dry run: nothing was committed")
    #expect(try room.count(of: "Person") == 0)
    (file.options.isDryRun, file.options.isAtomic, file.options.rejectLimit) = (false, true, 0)
    #expect(throws: MappingError.self) { try file.run(source) }
    #expect(try room.count(of: "Person") == 0)
    file.options.rejectLimit = 1
    #expect(try file.run(source).inserted == 1)
    #expect(try room.count(of: "Person") == 1)
  }
}
