import SQLiteStore
import Testing

@Suite("When a file is looked at after others' writes")
struct RemoteChangeScheduleTests {
  private typealias Schedule = RemoteChangeSchedule

  /// The delays until the next looks, of last looks that all come to the same; -1 for no further look.
  private func delays(_ count: Int, _ outcome: Schedule.Outcome, _ schedule: inout Schedule) -> [Int] {
    (0..<count).map { _ in schedule.looked(.last, outcome)?.delay ?? -1 }
  }

  @Test("once more when no writer is in the middle of a commit, and then no more")
  func once() {
    var schedule = Schedule()
    let step = schedule.heard()
    #expect(step.look == .last && step.delay == Schedule.pause)
    let afterQuick = schedule.looked(.quick, .read)
    #expect(afterQuick == nil && schedule.number == step.number)
    let found1 = delays(1, .read, &schedule)
    #expect(found1 == [-1])
  }

  @Test("a later event takes the place of the look that is awaited")
  func later() {
    var schedule = Schedule()
    let (first, second) = (schedule.heard(), schedule.heard())
    #expect(schedule.number == second.number && first.number != second.number)
  }

  @Test("as long as somebody writes, at growing distances and without a word")
  func written() {
    var schedule = Schedule()
    _ = schedule.heard()
    let found2 = delays(7, .isWritten, &schedule)
    #expect(found2 == [100, 200, 400, 800, 1000, 1000, 1000])
    #expect(!schedule.isFirstFailure)
    let found3 = delays(1, .read, &schedule)
    #expect(found3 == [-1])
  }

  @Test("as long as the file can't be read, which is said once in a row")
  func failing() {
    var schedule = Schedule()
    _ = schedule.heard()
    let afterQuick = schedule.looked(.quick, .failed)
    #expect(afterQuick == nil && !schedule.isFirstFailure)
    let found4 = delays(1, .failed, &schedule)
    #expect(found4 == [1000])
    #expect(schedule.isFirstFailure)
    let found5 = delays(6, .failed, &schedule)
    #expect(found5 == [2000, 4000, 8000, 16_000, 30_000, 30_000])
    #expect(!schedule.isFirstFailure)
    // An event is looked at at once all the same.
    let next = schedule.heard()
    #expect(next.delay == Schedule.pause)
    let found6 = delays(1, .read, &schedule)
    #expect(found6 == [-1])
    let found7 = delays(1, .failed, &schedule)
    #expect(found7 == [1000])
    #expect(schedule.isFirstFailure)
  }
}
