import ControlAPI
import Jobs

extension DaemonBackend {
  func schedules() async throws -> [ControlAPI.Schedule] { try await queue.schedules().map(ControlAPI.Schedule.init) }
}

extension ControlAPI.Schedule {
  init(_ schedule: ScheduleSnapshot) {
    let catchUp: CatchUp =
      switch schedule.catchUp {
      case .once: .once
      case .skip: .skip
      }
    self.init(
      name: schedule.name, kind: schedule.kind, calendar: schedule.calendar, timeZones: schedule.timeZones,
      catchUp: catchUp, isEnabled: schedule.isEnabled, nextAt: schedule.nextElapse, lastAt: schedule.lastElapse,
      lastOutcome: schedule.lastOutcome, lastJob: schedule.lastJob?.id,
      lastState: schedule.lastJob.map { ControlAPI.JobState($0.state) })
  }
}
