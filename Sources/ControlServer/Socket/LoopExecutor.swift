import NIOCore

/// Runs tasks on an event loop's own thread: a request that is read, answered and written there goes from thread to thread
/// only where it waits for the disk. Nothing that takes long may run there, for it is every connection's thread.
final class LoopExecutor: TaskExecutor {
  let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
