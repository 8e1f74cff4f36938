import Foundation
import Glibc
import Synchronization
import Testing

@testable import Spool

@Suite("Entries of a full spool")
struct EntrySorterTests {
  private func entries(_ count: Int) -> [FoundEntry] {
    (0..<count).map { number in
      FoundEntry(
        modified: [Int64.min, -5, 0, Int64(number % 97), .max][number % 5],
        recipe: [nil, "gtfs", "people"][number % 3], name: FileName("f\((number * 7919) % count) é\(number)"))
    }.shuffled()
  }

  @Test("come in order, though few are in memory", arguments: [0, 1, 4095, 4096, 4097, 50_000])
  func sorted(count: Int) throws {
    let spool = try TemporarySpool()
    let entries = entries(count)
    let files = Counter()
    var sorter = EntrySorter(recipes: ["gtfs", "people"]) {
      files.value.add(1, ordering: .relaxed)
      return try spool.directories.handle(.active).scratchFile()
    }
    for entry in entries { sorter.add(entry) }
    var found = [FoundEntry]()
    while let entry = try sorter.next() { found.append(entry) }
    let isSorted = found == entries.sorted()
    #expect(isSorted)
    #expect(!sorter.isIncomplete)
    #expect(files.value.load(ordering: .relaxed) == (count >= EntrySorter.runLength ? 1 : 0))
    #expect(try spool.names("active") == [])
  }

  @Test("are the oldest, where there is no room to sort all")
  func noRoom() throws {
    let entries = entries(20_000)
    var sorter = EntrySorter(recipes: ["gtfs", "people"]) {
      throw SpoolError.system(call: "create", path: "active/", code: ENOSPC)
    }
    for entry in entries { sorter.add(entry) }
    var found = [FoundEntry]()
    while let entry = try sorter.next() { found.append(entry) }
    #expect(sorter.isIncomplete)
    let areOldest = found.prefix(4096).elementsEqual(entries.sorted().prefix(4096))
    #expect(areOldest)
  }

  @Test("are taken in the order of their times, over many thousands", .timeLimit(.minutes(20)))
  func taken() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    let order = (0..<9_000).shuffled()
    for number in order {
      let path = spool.url("incoming/\(number.isMultiple(of: 2) ? "gtfs" : "people")/\(number).csv")
      try Data("\(number)".utf8).write(to: URL(fileURLWithPath: path))
      var times = [timespec(tv_sec: number, tv_nsec: 0), timespec(tv_sec: number, tv_nsec: 0)]
      try #require(utimensat(AT_FDCWD, path, &times, 0) == 0)
    }
    try await intake.rescan()
    let isInOrder = ledger.entries.map(\.originalName) == (0..<9_000).map { "\($0).csv" }
    #expect(isInOrder)
    #expect(ledger.asked == 9_000)
    #expect(try spool.names("active").count == 9_000)
    #expect(try spool.text("active/9000-8999.csv") == "8999")
  }
}

private final class Counter: Sendable {
  let value = Atomic(0)
}
