import Testing

@testable import SQLiteStore

@Suite("When a write-ahead log is copied, and by whom")
struct LogScheduleTests {
  private func steps(_ schedule: inout LogSchedule, _ frames: Int...) -> [LogSchedule.Step] {
    frames.map { schedule.committed($0) }
  }

  @Test("the copier begins when the log has its size, and not again before there is more to copy")
  func begins() {
    var schedule = LogSchedule(size: 100)
    let first = steps(&schedule, 50, 99, 100, 110, 150)
    #expect(first == [.nothing, .nothing, .begin, .nothing, .nothing])
    let goesOn = schedule.copied()
    #expect(goesOn && schedule.isCopying)
    let rests = !schedule.copied()
    #expect(rests && !schedule.isCopying)
    let next = steps(&schedule, 174, 175)
    #expect(next == [.nothing, .begin])
  }

  @Test("a log that has begun anew is left alone until it has its size again")
  func anew() {
    var schedule = LogSchedule(size: 100)
    _ = steps(&schedule, 120)
    _ = schedule.copied()
    let next = steps(&schedule, 10, 99, 105)
    #expect(next == [.nothing, .nothing, .begin])
  }

  @Test("from twice the size on a save copies the rest when the copier rests, from three times on it waits for that")
  func finishes() {
    var schedule = LogSchedule(size: 100)
    let busy = steps(&schedule, 100, 210, 299, 300)
    #expect(busy == [.begin, .nothing, .nothing, .finish])
    schedule = LogSchedule(size: 100)
    _ = steps(&schedule, 100, 199)
    let goesOn = schedule.copied()
    let rests = !schedule.copied()
    #expect(goesOn && rests)
    let resting = steps(&schedule, 201, 223, 224)
    #expect(resting == [.finish, .finish, .begin])
  }

  @Test("saves copy by themselves while the copier can't, and when it is over")
  func alone() {
    var schedule = LogSchedule(size: 100)
    _ = steps(&schedule, 100)
    schedule.endCopying()
    let goesOn = schedule.copied()
    let alone = steps(&schedule, 20, 99, 100, 120)
    #expect(!goesOn && alone == [.nothing, .nothing, .finish, .finish])
    schedule.allowCopying()
    let together = steps(&schedule, 10, 100)
    #expect(together == [.nothing, .begin])
  }
}
