import Testing

@testable import Importing

/// Kills an import at every write to the store, before and after the commit, and continues it.
enum Killing {
  /// Expects each import that was killed and continued to leave what one run leaves.
  ///
  /// - Parameters:
  ///   - furnish: fills the store before the import.
  ///   - run: the import.
  ///   - traces: what it leaves behind.
  static func everyWrite<T: Equatable>(
    _ kind: StoreKind, furnish: (ImportRoom) throws -> Void = { _ in }, run: (ImportRoom) throws -> ImportEnd,
    traces: (ImportRoom, ImportEnd) throws -> T
  ) throws {
    let whole = try ImportRoom(kind)
    try furnish(whole)
    let expected = try traces(whole, run(whole))
    for moment in FaultyStore.Plan.Moment.allCases {
      var write = 1
      while true {
        let room = try ImportRoom(kind)
        try furnish(room)
        room.plan.fail(write: write, forGood: write % 2 == 0, moment)
        var end: ImportEnd?
        do {
          end = try run(room)
        } catch FaultyStore.Fault.injected {
          end = nil
        }
        let isReached = room.plan.writes >= write
        if end == nil {
          try room.reopen()
          end = try run(room)
        }
        guard let end else { break }
        #expect(try traces(room, end) == expected, "write \(write), \(moment)")
        if !isReached { break }
        write += 1
      }
      #expect(write > 3)
    }
  }
}
