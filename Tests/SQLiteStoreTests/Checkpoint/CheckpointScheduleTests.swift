import Testing

@testable import SQLiteStore

@Suite("When a write-ahead log is checkpointed, and by whom")
struct CheckpointScheduleTests {
  private func steps(_ schedule: inout CheckpointSchedule, _ frames: Int...) -> [CheckpointSchedule.Step] {
    frames.map { schedule.committed($0) }
  }

  @Test("the checkpointer begins when the log has its size, and not again before there is more to copy")
  func begins() {
    var schedule = CheckpointSchedule(size: 100)
    let first = steps(&schedule, 50, 99, 100, 110, 150)
    #expect(first == [.nothing, .nothing, .begin, .nothing, .nothing])
    let goesOn = schedule.checkpointed()
    #expect(goesOn && schedule.isRunning)
    let rests = !schedule.checkpointed()
    #expect(rests && !schedule.isRunning)
    let next = steps(&schedule, 174, 175)
    #expect(next == [.nothing, .begin])
  }

  @Test("a log that was reset isn't checkpointed until it has its size again")
  func anew() {
    var schedule = CheckpointSchedule(size: 100)
    _ = steps(&schedule, 120)
    _ = schedule.checkpointed()
    let next = steps(&schedule, 10, 99, 105)
    #expect(next == [.nothing, .nothing, .begin])
  }

  @Test(
    "from twice the size on a save copies the rest if the checkpointer is idle, from three times on it waits for it")
  func finishes() {
    var schedule = CheckpointSchedule(size: 100)
    let busy = steps(&schedule, 100, 210, 299, 300)
    #expect(busy == [.begin, .nothing, .nothing, .finish])
    schedule = CheckpointSchedule(size: 100)
    _ = steps(&schedule, 100, 199)
    let goesOn = schedule.checkpointed()
    let rests = !schedule.checkpointed()
    #expect(goesOn && rests)
    let resting = steps(&schedule, 201, 223, 224)
    #expect(resting == [.finish, .finish, .begin])
  }

  @Test("saves copy by themselves while the checkpointer can't, and when it is over")
  func alone() {
    var schedule = CheckpointSchedule(size: 100)
    _ = steps(&schedule, 100)
    schedule.fallBack()
    let goesOn = schedule.checkpointed()
    let alone = steps(&schedule, 20, 99, 100, 120)
    #expect(!goesOn && alone == [.nothing, .nothing, .finish, .finish])
    schedule.recover()
    let together = steps(&schedule, 10, 100)
    #expect(together == [.nothing, .begin])
  }
}
