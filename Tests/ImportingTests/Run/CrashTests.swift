import ManagedObjects
import Testing

@testable import Importing

/// Rules 3 and 4 (ARCHITECTURE.md): whichever write fails, the continued job leaves what one run leaves.
@Suite("An import that is killed")
struct CrashTests {
  static let cases =
    ResumeTests.cases.map { ($0, StoreKind.memory) } + [
      ((.csv, .insert), .sqlite), ((.csv, .upsert), .sqlite), ((.json, .upsert), .sqlite),
    ]

  @Test(
    "at every write, before or after its commit, and continued, leaves what one run leaves",
    arguments: cases)
  func everyWrite(_ what: (sample: PeopleSample, mode: ImportMode), kind: StoreKind) throws {
    let (sample, mode) = what
    let whole = try PeopleSample.room(kind)
    let expected = try Traces(whole, whole.run(sample.text, as: sample.name, mode: mode, batch: 5))
    for moment in FaultyStore.Plan.Moment.allCases {
      var write = 1
      while true {
        let room = try PeopleSample.room(kind)
        room.plan.fail(write: write, forGood: write % 2 == 0, moment)
        var end = try interrupted(room, sample, mode)
        let isReached = room.plan.writes >= write
        if end == nil {
          try room.reopen()
          end = try room.run(sample.text, as: sample.name, mode: mode, batch: 5)
        }
        guard let end else { break }
        #expect(try Traces(room, end) == expected, "write \(write), \(moment)")
        if !isReached { break }
        write += 1
      }
      #expect(write > 6)
    }
  }

  @Test(
    "at every write of every going on, one more each time, leaves what one run leaves", arguments: PeopleSample.allCases
  )
  func everyWriteAgain(sample: PeopleSample) throws {
    let whole = try PeopleSample.room(.sqlite)
    let expected = try Traces(whole, whole.run(sample.text, as: sample.name, batch: 3))
    let room = try PeopleSample.room(.sqlite)
    var runs = 0
    var end: ImportEnd?
    while end == nil, runs < 100 {
      runs += 1
      try room.reopen()
      // The second write of each run fails, or the first that does anything, when the last was lost.
      room.plan.fail(write: 1 + runs % 3, forGood: true, runs % 2 == 0 ? .after : .before)
      end = try interrupted(room, sample, .upsert, batch: 3)
    }
    let last = try #require(end)
    #expect(runs > 3)
    #expect(try Traces(room, last) == expected)
  }

  /// Runs until the fault; nil when there was one.
  private func interrupted(
    _ room: ImportRoom, _ sample: PeopleSample, _ mode: ImportMode, batch: Int = 5
  ) throws -> ImportEnd? {
    do {
      return try room.run(sample.text, as: sample.name, mode: mode, batch: batch)
    } catch FaultyStore.Fault.injected {
      return nil
    }
  }
}
