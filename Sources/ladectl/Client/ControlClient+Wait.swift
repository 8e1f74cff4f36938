import ControlAPI
import Glibc

extension ControlClient {
  /// The daemon's status as soon as it answers.
  ///
  /// It retries whenever something happens at the socket's place, and after a pause that grows from 50 ms to 1 s: a daemon that
  /// isn't ready yet, or that reuses an existing socket, causes no such event.
  func statusWhenUp() async throws -> Status {
    var pause = Duration.milliseconds(50)
    while true {
      let watch = SocketWatch(for: socketPath)
      do {
        return try await status()
      } catch let error as ControlClientError where error.mayPass {
        await firstChange(watch?.changes, orAfter: pause)
        withExtendedLifetime(watch) {}
        try Task.checkCancellation()
        pause = min(pause * 2, .seconds(1))
      }
    }
  }

  private func firstChange(_ changes: AsyncStream<Void>?, orAfter pause: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      if let changes {
        group.addTask { for await _ in changes { return } }
      }
      group.addTask {
        // Cancelled if the watch was quicker, which isn't a failure.
        try? await Task.sleep(for: pause)
      }
      await group.next()
      group.cancelAll()
    }
  }
}

extension ControlClientError {
  /// Whether waiting may help.
  var mayPass: Bool {
    switch self {
    case .noSocket, .notListening, .hungUp: true
    case .refused(let problem): problem.status == 503
    case .cantConnect(_, let code): code == EAGAIN
    case .noPermission, .notASocket, .versionMismatch, .timedOut: false
    }
  }
}
