import Foundation
import Jobs

// What the configuration says, as the queue takes it.

extension Jobs.LaneConfiguration {
  init(_ lane: LaneConfiguration) {
    self.init(
      name: lane.name, concurrency: lane.concurrency,
      rate: lane.rate.map { RateLimit(jobs: $0.jobs, period: $0.per / .seconds(1)) })
  }
}

extension Backoff {
  init(_ retry: RetryConfiguration) {
    self.init(
      first: retry.first / .seconds(1), longest: retry.longest / .seconds(1), spread: Double(retry.spread) / 100)
  }
}

extension JobRetention {
  init(_ keep: KeepConfiguration) {
    self.init(
      age: [
        .completed: keep.completed / .seconds(1), .cancelled: keep.cancelled / .seconds(1),
        .discarded: keep.discarded / .seconds(1),
      ], count: keep.jobs)
  }
}

extension JobQueueConfiguration {
  init(_ configuration: DaemonConfiguration, _ schedules: [Jobs.ScheduleConfiguration]) {
    self.init(
      lanes: configuration.lanes.map(Jobs.LaneConfiguration.init), schedules: schedules,
      retention: JobRetention(configuration.keep), backoff: Backoff(configuration.retry))
  }
}
