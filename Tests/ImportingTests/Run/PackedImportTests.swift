import Foundation
import Testing

@testable import Importing

@Suite("An import of a packed source")
struct PackedImportTests {
  /// Runs it, or a part of it, from the packed file.
  private func run(
    _ room: ImportRoom, _ packing: PackedCase, _ sample: PeopleSample, stopAfter: Int = .max
  ) throws -> ImportEnd {
    let name = packing.name(sample.name)
    let file = room.file(name)
    if !FileManager.default.fileExists(atPath: file.path) {
      try Data(packing.pack(sample.text, as: sample.name)).write(to: file)
    }
    room.isSourceKept = true
    return try room.run("", as: name, mode: .upsert, reader: packing.options, batch: 3, stopAfter: stopAfter)
  }

  @Test(
    "stopped after each batch and continued, it leaves what one run of the plain file leaves",
    arguments: [PackedCase.gzip, .xz, .zip, .tarGzip, .utf16Marked], PeopleSample.allCases)
  func resumption(packing: PackedCase, sample: PeopleSample) throws {
    let plain = try PeopleSample.room(.memory)
    let expected = try Traces(plain, plain.run(sample.text, as: sample.name, mode: .upsert, batch: 3))
    let room = try PeopleSample.room(.memory)
    var stops = 0
    var end = try run(room, packing, sample, stopAfter: 1)
    while !end.isFinished, stops < 100 {
      stops += 1
      try room.reopen()
      end = try run(room, packing, sample, stopAfter: 1)
      #expect(room.reports.allSatisfy { $0.bytesDone <= $0.bytesTotal })
    }
    #expect(try Traces(room, end) == expected)
    #expect(stops >= 5)
    #expect(!end.notes.isEmpty)
  }

  @Test("that turns out damaged keeps the rows before, and fails the job saying where")
  func damaged() throws {
    let room = try ImportRoom(.memory)
    let rows = (0..<30_000).map { "p\($0),Person \($0 &* 2_654_435_761 % 99_991)\n" }.joined()
    var bytes = try Packing.compressed(Array(("code,name\n" + rows).utf8), .gzip)
    bytes.removeLast(9)
    try Data(bytes).write(to: room.file("a.csv.gz"))
    room.isSourceKept = true
    let error = try room.failure("", as: "a.csv.gz", batch: 1_000)
    #expect(error as? ReaderError == .source(.truncated(what: "gzip", offset: Int64(bytes.count))))
    #expect(try room.count(of: "Person") > 25_000)
  }
}
