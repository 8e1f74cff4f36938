import Testing

@testable import Importing

@Suite("An import that is stopped and continued")
struct ResumeTests {
  static let cases: [(PeopleSample, ImportMode)] = PeopleSample.allCases.flatMap { sample in
    ImportMode.allCases.map { (sample, $0) }
  }

  @Test(
    "stopping after each batch, whatever its size, leaves what one run leaves",
    // A replacement that is stopped starts again.
    arguments: cases.filter { $0.1 != .replace }, StoreKind.allCases)
  func stopAfterEachBatch(_ what: (sample: PeopleSample, mode: ImportMode), kind: StoreKind) throws {
    let (sample, mode) = what
    var sizes: [Traces] = []
    for batch in [1, 2, 3, 7, 100] {
      let whole = try PeopleSample.room(kind)
      let expected = try Traces(whole, whole.run(sample.text, as: sample.name, mode: mode, batch: batch))
      let room = try PeopleSample.room(kind)
      var stops = 0
      var end = try room.run(sample.text, as: sample.name, mode: mode, batch: batch, stopAfter: 1)
      while !end.isFinished, stops < 100 {
        stops += 1
        try room.reopen()
        end = try room.run(sample.text, as: sample.name, mode: mode, batch: batch, stopAfter: 1)
      }
      let found = try Traces(room, end)
      #expect(found == expected, "batches of \(batch)")
      #expect(found.kept == 0)
      #expect(stops >= 20 / batch)
      sizes.append(expected)
    }
    // Where batches end makes no difference.
    for traces in sizes.dropFirst() { #expect(traces == sizes[0]) }
  }

  @Test("every record is an object inserted, changed or left alone, or a reject", arguments: cases, StoreKind.allCases)
  func countsAddUp(_ what: (sample: PeopleSample, mode: ImportMode), kind: StoreKind) throws {
    let room = try PeopleSample.room(kind)
    let counts = try room.run(what.sample.text, as: what.sample.name, mode: what.mode, batch: 4).counts
    #expect(counts.records == counts.inserted + counts.updated + counts.unchanged + counts.rejected)
    #expect(counts.inserted - counts.deleted == Int64(try room.count(of: "Person") - 3))
    #expect(counts.rejected == Int64(rejectCount(room, what.sample, what.mode)))
  }

  private func rejectCount(_ room: ImportRoom, _ sample: PeopleSample, _ mode: ImportMode) -> Int {
    let lines = (room.rejects() ?? "").split(separator: "\n")
    // The record with a newline is rejected by an update only, which doesn't find its object.
    switch sample {
    case .csv: return lines.count - (mode == .update ? 2 : 1)
    case .ndjson: return lines.count
    case .json: return lines.count - 2
    }
  }

  @Test("stopped before anything, it starts again", arguments: StoreKind.allCases)
  func stopAtOnce(kind: StoreKind) throws {
    let room = try PeopleSample.room(kind)
    let end = try room.run(PeopleSample.csv.text, stopAtAsking: 1)
    #expect(!end.isFinished)
    #expect(end.counts == ImportCounts())
    #expect(try room.count(of: "Person") == 3)
    #expect(try room.run(PeopleSample.csv.text).isFinished)
  }

  @Test(
    "stopped when everything is read, it sets the references kept for the end when it continues",
    arguments: PeopleSample.allCases)
  func stopBeforeTheEnd(sample: PeopleSample) throws {
    let whole = try PeopleSample.room(.sqlite)
    let expected = try Traces(whole, whole.run(sample.text, as: sample.name, batch: 100))
    let room = try PeopleSample.room(.sqlite)
    // Asked before the batch, before the next, at the end of the file, and before the references.
    let end = try room.run(sample.text, as: sample.name, batch: 100, stopAtAsking: 4)
    #expect(!end.isFinished)
    #expect(try room.count(of: ImportModel.referenceEntity) > 0)
    try room.reopen()
    #expect(try Traces(room, room.run(sample.text, as: sample.name, batch: 100)) == expected)
  }

  @Test("a job that has finished does nothing when it is run again", arguments: StoreKind.allCases)
  func finishedTwice(kind: StoreKind) throws {
    let room = try PeopleSample.room(kind)
    let first = try room.run(PeopleSample.csv.text, mode: .insert)
    let traces = try Traces(room, first)
    try room.reopen()
    let saves = Saves(of: room.coordinator)
    let second = try room.run(PeopleSample.csv.text, mode: .insert)
    #expect(second.isFinished)
    #expect(saves.total == 0)
    #expect(try Traces(room, second) == traces)
  }

  @Test("forgetting a job that was given up leaves nothing of it", arguments: StoreKind.allCases)
  func forget(kind: StoreKind) throws {
    let room = try PeopleSample.room(kind)
    try room.run(PeopleSample.csv.text, batch: 3, job: "1", stopAfter: 3)
    try room.run(PeopleSample.csv.text, as: "b.csv", batch: 3, job: "2", stopAfter: 3)
    let others = try room.count(of: ImportModel.referenceEntity)
    try ImportCheckpoint.remove("1", in: room.context())
    #expect(try ImportCheckpoint.read("1", in: room.context()) == nil)
    #expect(try ImportCheckpoint.read("2", in: room.context()) != nil)
    let left = try room.count(of: ImportModel.referenceEntity)
    #expect(left > 0 && left < others)
    try ImportCheckpoint.remove("2", in: room.context())
    #expect(try room.count(of: ImportModel.referenceEntity) == 0)
  }
}
