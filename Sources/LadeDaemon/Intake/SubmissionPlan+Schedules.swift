import Foundation
import Jobs

extension SubmissionPlan {
  /// The schedules of the configuration, as the queue has them.
  /// - Throws: ``DaemonError/configuration(_:)`` with everything that is wrong with the job of any.
  func schedules() throws -> [JobSchedule] {
    let (schedules, misfits) = try fittingSchedules()
    guard misfits.isEmpty else {
      throw DaemonError.configuration(misfits.map(\.description).joined(separator: "\n"))
    }
    return schedules
  }

  /// The same, and what is wrong with the job of any other.
  func fittingSchedules() throws -> (schedules: [JobSchedule], misfits: [Misfit]) {
    var misfits: [Misfit] = []
    var schedules: [JobSchedule] = []
    for schedule in configuration.schedules {
      do {
        schedules.append(try self.schedule(schedule))
      } catch let problem as SubmissionProblem {
        misfits.append(
          Misfit("schedule \(schedule.name)", key: "schedules.\(schedule.name).job", field: problem.field, problem))
      }
    }
    return (schedules, misfits)
  }

  private func schedule(_ schedule: ScheduleConfiguration) throws -> JobSchedule {
    let work = schedule.work
    let name = work.source.map { URL(fileURLWithPath: $0).lastPathComponent }
    let job = try submission(work, source: name ?? "", by: "schedule \(schedule.name)")
    var result = JobSchedule(name: schedule.name, calendar: schedule.calendar, submission: job)
    result.catchUp = schedule.catchUp
    result.jitter = schedule.randomizedDelay / .seconds(1)
    result.isEnabled = schedule.isEnabled
    return result
  }
}
