/// What a queue needs from the program that owns it, and reports to it.
///
/// The queue refers to its delegate weakly: the delegate usually owns the queue. Set it before anything is submitted.
///
/// The asynchronous methods are called from a task of their own, after the change that they are about is durable, with no
/// lock held: they may take long and may call the queue. What they throw is logged. A kill before one returns loses the
/// call; what makes up for that is said with each. The others are called on the ledger's queue or on the thread of an
/// operation, in order: they must return at once.
///
/// Every method has an implementation that does nothing.
package protocol JobQueueDelegate: AnyObject, Sendable {
  /// A job has ended: puts its file away. Called once for each end; those who wait for the job go on when this has returned.
  /// After a kill the file is still in `active/`, and ``JobQueue/settle(_:)`` has this called again.
  func jobQueue(_ queue: JobQueue, didEnd job: Job) async throws

  /// A job that has ended is about to be tried again: brings its file back to `active/`, or throws to refuse.
  func jobQueue(_ queue: JobQueue, willRetry job: Job) async throws

  /// A job was removed from the queue: removes what is kept of it elsewhere, such as its reject file.
  func jobQueue(_ queue: JobQueue, didRemove job: Job) async throws

  /// A job that a schedule made waits for its file: brings it to `active/` and says so by
  /// ``JobQueue/fileArrived(_:activeName:by:)``, or cancels the job. Called again after a restart.
  func jobQueue(_ queue: JobQueue, fetchFileOf job: Job, for schedule: String) async throws

  /// A change of a job is durable. Called for every change, in order.
  /// - Parameter former: the state before; nil for a new job.
  func jobQueue(_ queue: JobQueue, didMove job: Job, from former: JobState?)

  /// An operation has reported progress.
  /// - Parameter job: the job as it was known before.
  func jobQueue(_ queue: JobQueue, didReport progress: JobProgress, of job: Job)

  /// A shared queue can't do without its lease, and has lost it: nothing is begun any more, running jobs are stopped, and
  /// other daemons go on with them. Called on any thread.
  func jobQueueDidLoseLease(_ queue: JobQueue)
}

extension JobQueueDelegate {
  package func jobQueue(_ queue: JobQueue, didEnd job: Job) async throws {}
  package func jobQueue(_ queue: JobQueue, willRetry job: Job) async throws {}
  package func jobQueue(_ queue: JobQueue, didRemove job: Job) async throws {}
  package func jobQueue(_ queue: JobQueue, fetchFileOf job: Job, for schedule: String) async throws {}
  package func jobQueue(_ queue: JobQueue, didMove job: Job, from former: JobState?) {}
  package func jobQueue(_ queue: JobQueue, didReport progress: JobProgress, of job: Job) {}
  package func jobQueueDidLoseLease(_ queue: JobQueue) {}
}
