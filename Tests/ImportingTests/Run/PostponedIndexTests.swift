import GRDB
import Testing

@testable import Importing

@Suite("The indexes of a large load")
struct PostponedIndexTests {
  /// People with consecutive keys.
  private func people(_ count: Int, from first: Int = 0) -> String {
    "code,name\n" + (first..<first + count).map { "P\($0),Name \($0)\n" }.joined()
  }

  /// The names of the indexes of people in the file, as another program sees them.
  private func indexes(_ room: ImportRoom) throws -> [String] {
    let queue = try DatabaseQueue(path: room.database.path)
    defer { withExtendedLifetime(queue) {} }
    return try queue.read { db in
      try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'Person' ORDER BY name")
    }
  }

  /// Imports, and notes the indexes that there are after each batch.
  private func run(
    _ text: String, _ room: ImportRoom, job: String = "1", limit: Int? = 1000, stopAfter: Int = .max
  ) throws -> [[String]] {
    var seen: [Result<[String], any Error>] = []
    try room.run(
      text, as: "\(job).csv", batch: 10, limit: limit, job: job, stopAfter: stopAfter, largeLoad: 40,
      onReport: { _ in seen.append(Result { try indexes(room) }) })
    return try seen.map { try $0.get() }
  }

  @Test("those that only speed reading go when the first batch is in, and are there again at the end")
  func large() throws {
    let room = try ImportRoom(.sqlite)
    let all = try indexes(room)
    let unique = all.filter { $0.contains("code") || $0.contains("email") }
    #expect(unique.count == 2 && all.count > 2)
    let seen = try run(people(100), room)
    // The first two reports come before the load decides: before the first batch, and after it.
    #expect(Array(seen.prefix(2)) == [all, all])
    #expect(Set(seen.dropFirst(2)) == [unique])
    #expect(try indexes(room) == all)
    #expect(try room.count(of: "Person") == 100)
  }

  @Test("they stay when few records come, and when the table holds half as many already")
  func small() throws {
    let room = try ImportRoom(.sqlite)
    let all = try indexes(room)
    #expect(try Set(run(people(45), room, job: "1")) == [all])
    #expect(try Set(run(people(80, from: 1000), room, job: "2")) == [all])
    #expect(try Set(run(people(400, from: 5000), room, job: "3")).count == 2)
    #expect(try indexes(room) == all)
  }

  @Test("they stay if records refer to others of their own table by a key that isn't unique")
  func needed() throws {
    let room = try ImportRoom(.sqlite)
    func count() throws -> Int {
      let queue = try DatabaseQueue(path: room.database.path)
      defer { withExtendedLifetime(queue) {} }
      return try queue.read { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'Node'") ?? 0
      }
    }
    let all = try count()
    for (column, isLess) in [("buddy", false), ("root", true)] {
      let text = "id,alias,root,\(column == "root" ? "x" : column)\n"
      let first = column == "root" ? 1_000 : 0
      let rows = (first..<first + 100 + first).map { "\($0),A\($0),\($0),A\($0)\n" }.joined()
      var seen: Set<Int> = []
      try room.run(
        text + rows, as: "\(column).csv", into: "Node", batch: 10, job: column, largeLoad: 40,
        onReport: { _ in seen.insert((try? count()) ?? -1) })
      #expect(seen.contains { $0 < all } == isLess && !seen.contains(-1))
    }
  }

  @Test("a load that fails or is stopped rebuilds them as well, and continues")
  func ended() throws {
    let room = try ImportRoom(.sqlite)
    let all = try indexes(room)
    let text = people(100)
    #expect(try run(text, room, stopAfter: 4).count == 5)
    #expect(try indexes(room) == all)
    _ = try run(text, room)
    #expect(try room.count(of: "Person") == 100 && indexes(room) == all)
    // Every record once more, under keys that are there.
    let bad = "code,name\n" + (0..<100).map { "Q\($0),\($0 > 50 ? "" : "Name")\n" }.joined()
    #expect(throws: MappingError.self) { _ = try run(bad, room, job: "2", limit: 3) }
    #expect(try indexes(room) == all)
  }

  @Test("opening the store after a kill rebuilds them")
  func killed() throws {
    let room = try ImportRoom(.sqlite)
    let all = try indexes(room)
    // The store does nothing any more once some batches are in: what it would have made at the end is missing.
    room.plan.fail(write: 7, forGood: true, .before)
    #expect(throws: FaultyStore.Fault.self) { _ = try run(people(100), room) }
    #expect(try indexes(room) != all)
    try room.reopen()
    #expect(try indexes(room) == all)
    _ = try run(people(100), room)
    #expect(try room.count(of: "Person") == 100 && indexes(room) == all)
  }

  @Test("when the disk is full as they are made, the job isn't finished, and its next attempt makes them")
  func full() throws {
    let room = try ImportRoom(.sqlite)
    let all = try indexes(room)
    // Ten batches, and the order to go without; the twelfth is to make them. What ends the failed load tries again.
    room.plan.fail(write: 12, forGood: true, .before)
    #expect(throws: FaultyStore.Fault.self) { _ = try run(people(100), room) }
    #expect(try room.count(of: "Person") == 100 && indexes(room) != all)
    room.plan.heal()
    _ = try run(people(100), room)
    #expect(try room.count(of: "Person") == 100 && indexes(room) == all)
  }

  @Test("of two loads of one table the last to end makes them")
  func two() throws {
    let room = try ImportRoom(.sqlite)
    let all = try indexes(room)
    var within: [[String]] = []
    var hasRun = false
    try room.run(
      people(100), as: "outer.csv", batch: 10, job: "outer", largeLoad: 40,
      onReport: { progress in
        guard progress.counts.records == 50, !hasRun else { return }
        hasRun = true
        do {
          within = try run(people(300, from: 1000), room, job: "inner")
          within.append(try indexes(room))
        } catch {
          Issue.record(error)
        }
      })
    #expect(within.last != all && within.count > 30)
    #expect(try indexes(room) == all)
    #expect(try room.count(of: "Person") == 400)
  }
}
