import Dispatch

/// Runs tasks on a queue of their own, for a test in which they block.
package final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "test.tasks")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
