import Foundation
import ManagedObjects
import Synchronization
import Testing

@testable import Importing

@Suite("The source of an import")
struct SourceTests {
  static let text = "code,name\n" + (0..<20).map { "p\($0),Person \($0)\n" }.joined()

  @Test("that has changed since the import began is refused", arguments: StoreKind.allCases)
  func changed(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run(Self.text, batch: 5, stopAfter: 1)
    let before = try room.rows("code", "name")
    let other = Self.text.replacing("Person 19", with: "Person XX")
    #expect(other.utf8.count == Self.text.utf8.count)
    guard case MappingError.sourceChanged? = try room.failure(other, batch: 5) else {
      Issue.record("not refused")
      return
    }
    #expect(try room.rows("code", "name") == before)
  }

  @Test("that is the same again after a copy is still another file")
  func touched() throws {
    let room = try ImportRoom(.memory)
    try room.run(Self.text, batch: 5, stopAfter: 1)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: room.file("a.csv").path)
    guard case MappingError.sourceChanged? = try room.failure(Self.text, batch: 5) else {
      Issue.record("not refused")
      return
    }
  }

  @Test("that changes while it is read fails the job before it is said to be finished")
  func changedConcurrently() throws {
    let room = try ImportRoom(.memory)
    let file = room.file("a.csv")
    try Data(Self.text.utf8).write(to: file)
    room.plan.intrude {
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("more,More\n".utf8))
      try handle.close()
    }
    guard case MappingError.sourceChanged? = try room.failure(Self.text, batch: 5) else {
      Issue.record("not refused")
      return
    }
    #expect(try ImportCheckpoint.read("1", in: room.context())?.isFinished == false)
  }

  @Test("is no longer read for its columns and first records when the time is up, even where it has no record")
  func interruptedPreview() throws {
    let room = try ImportRoom(.memory)
    let entity = try #require(room.coordinator.model.entitiesByName["Person"])
    let file = room.file("a.csv")
    let gap = String(repeating: "\n", count: 2 << 20)
    try Data("code,name\np,Person\n\(gap)q,Other\n".utf8).write(to: file)
    var request = ImportRequest(
      job: "1", source: file, name: "a.csv", entity: entity.name, options: ImportOptions(),
      rejects: room.file("rejects"))
    #expect(try SourceColumns(request, into: entity).columns.map(\.values) == [["p", "q"], ["Person", "Other"]])
    let asked = Mutex(0)
    request.shouldStopWithinRecord = {
      asked.withLock {
        $0 += 1
        return $0 > 4
      }
    }
    #expect(throws: Interrupted.self) { _ = try SourceColumns(request, into: entity) }
    asked.withLock { $0 = 0 }
    #expect(throws: Interrupted.self) { _ = try RecordSample(request, into: entity, limit: 5) }
  }

  @Test("is no longer imported when the import is to stop, even where it has no record for a long time")
  func interruptedImport() throws {
    let room = try ImportRoom(.sqlite)
    let gap = String(repeating: "\n", count: 4 << 20)
    let asked = Mutex(0)
    // The columns are known by then, and the gap isn't read to its end.
    room.shouldStopWithinRecord = {
      asked.withLock {
        $0 += 1
        return $0 > 8
      }
    }
    let end = try room.run("code,name\n\(gap)q,Other\n")
    guard case .stopped(let progress) = end else {
      Issue.record("it came to its end: \(end)")
      return
    }
    #expect(progress.counts.records == 0)
    #expect(try room.rows("code").isEmpty)
    // Nor is it opened once the import is to stop.
    room.shouldStopWithinRecord = { true }
    #expect(throws: Interrupted.self) { try room.run("code,name\nq,Other\n", as: "b.csv", job: "2") }
  }

  @Test("isn't looked at when the job had finished", arguments: StoreKind.allCases)
  func finishedAndGone(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let first = try room.run(Self.text)
    try FileManager.default.removeItem(at: room.file("a.csv"))
    try room.reopen()
    let second = try room.run(file: "a.csv")
    #expect(second.isFinished && second.counts == first.counts)
  }

  @Test("reports bytes that grow up to its length", arguments: PeopleSample.allCases, [1, 7, 100])
  func progress(sample: PeopleSample, batch: Int) throws {
    let room = try PeopleSample.room(.memory)
    let end = try room.run(sample.text, as: sample.name, batch: batch)
    let done = room.reports.map(\.bytesDone)
    #expect(done.first == 0)
    #expect(done == done.sorted())
    #expect(room.reports.allSatisfy { $0.bytesTotal == Int64(sample.text.utf8.count) && $0.bytesDone <= $0.bytesTotal })
    let records = room.reports.map(\.counts.records)
    #expect(records == records.sorted())
    guard case .finished(let last, .committed, _) = end else {
      Issue.record("not finished")
      return
    }
    #expect(last.bytesDone == last.bytesTotal)
    #expect(room.reports.count == Int(last.counts.records) / batch + (Int(last.counts.records) % batch == 0 ? 1 : 2))
  }

  @Test("begins where it was when it is continued")
  func progressGoesOn() throws {
    let room = try ImportRoom(.memory)
    try room.run(Self.text, batch: 5, stopAfter: 2)
    let stopped = room.reports.last
    try room.run(Self.text, batch: 5)
    #expect(room.reports.first == stopped)
  }

  @Test("with more rejects than the limit fails the job, and what was committed stays", arguments: StoreKind.allCases)
  func rejectLimit(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,age\n" + (0..<12).map { "p\($0),P,\($0 % 2 == 0 ? "x" : "1")\n" }.joined()
    let error = try room.failure(text, batch: 4, limit: 3)
    #expect(
      error as? MappingError
        == .tooManyRejects(
          count: 4, limit: 3,
          first: "line 2: age: “x” isn't a whole number; expected Integer 16 (-32768 to 32767)"))
    #expect(try room.rows("code") == ["p1", "p3", "p5", "p7"])
    // Run again, it fails at once: it isn't to import one batch more each time.
    #expect(try room.failure(text, batch: 4, limit: 3) is MappingError)
    #expect(try room.rows("code") == ["p1", "p3", "p5", "p7"])
    #expect(
      room.refusals() == [
        "2,age,not_an_integer", "4,age,not_an_integer", "6,age,not_an_integer", "8,age,not_an_integer",
      ])
  }

  @Test("with just as many rejects as the limit is imported; without a limit, with any number", arguments: [3, nil])
  func rejectLimitReached(limit: Int?) throws {
    let room = try ImportRoom(.memory)
    let rejected = limit ?? 2000
    let text = "code,name,age\n" + (0..<rejected).map { "p\($0),P,x\n" }.joined() + "a,Ann,1\n"
    #expect(try room.run(text, batch: 100, limit: limit).tally == "1i 0u 0= \(rejected)r 0?")
  }

  @Test("without records is imported, with a note", arguments: ["code,name\n", "code,name"])
  func headerOnly(text: String) throws {
    let room = try ImportRoom(.memory)
    let end = try room.run(text)
    #expect(end.isFinished && end.counts == ImportCounts())
    #expect(end.notes == ["the file has no records"])
  }

  @Test("that isn't there, or is a directory, a symlink or a FIFO, is refused")
  func notAFile() throws {
    let room = try ImportRoom(.memory)
    try Data("code,name\n".utf8).write(to: room.file("a.csv"))
    try FileManager.default.createDirectory(at: room.file("folder.csv"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(at: room.file("link.csv"), withDestinationURL: room.file("a.csv"))
    #expect(mkfifo(room.file("pipe.csv").path, 0o600) == 0)
    for name in ["nothing.csv", "folder.csv", "link.csv", "pipe.csv"] {
      let error = #expect(throws: MappingError.self, "\(name)") { try room.run(file: name) }
      guard case .fileFailed(let path, _, _)? = error else {
        Issue.record("another error of \(name)")
        continue
      }
      #expect(path == room.file(name).path)
    }
  }

  @Test("that turns out malformed keeps the records before, and fails the job", arguments: StoreKind.allCases)
  func malformed(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "[{\"code\":\"a\",\"name\":\"A\"},\n{\"code\":\"b\",\"name\":\"B\"},\n{\"code\":\"c\" \"name\"}]"
    guard case ReaderError.malformed(let line, _, _)? = try room.failure(text, as: "a.json", batch: 1) else {
      Issue.record("not refused")
      return
    }
    #expect(line == 3)
    #expect(try room.rows("code") == ["a", "b"])
  }

  @Test("may fail the job at any batch, and the reading ends with it")
  func storeFails() throws {
    let text = "code,name\n" + (0..<5000).map { "p\($0),Person\n" }.joined()
    for write in [1, 2, 5, 40] {
      let room = try ImportRoom(.memory)
      room.plan.fail(write: write, forGood: true, .before)
      #expect(try room.failure(text, batch: 10) is FaultyStore.Fault)
      #expect(try room.count(of: "Person") == (write - 1) * 10)
    }
  }
}
