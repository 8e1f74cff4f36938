import ControlServer
import ControlTestSupport
import Logging
import ServiceLifecycle

/// A control server on a socket of its own, from listening to stopped.
struct RunningServer: Sendable {
  let path: String
  private let group: ServiceGroup

  /// Asks it to stop, as SIGTERM does.
  func stop() async { await group.triggerGracefulShutdown() }

  /// Runs a server while `body` runs; returns when both have ended.
  static func with<Value: Sendable>(
    _ backend: MemoryBackend, meter: RequestMeter = RequestMeter(), at path: String, passed: Int32? = nil,
    grace: Duration = .seconds(600),
    _ body: (RunningServer) async throws -> Value
  ) async throws -> Value {
    let (listening, continuation) = AsyncStream<Void>.makeStream()
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = ControlServer(
      backend: backend, meter: meter, address: SocketAddress(path: path), passed: passed, logger: logger, grace: grace,
      onListening: { continuation.finish() })
    let group = ServiceGroup(services: [server], logger: logger)
    async let running: Void = {
      defer { continuation.finish() }
      try await group.run()
    }()
    for await _ in listening {}
    let value: Value
    do {
      value = try await body(RunningServer(path: path, group: group))
    } catch {
      await group.triggerGracefulShutdown()
      try await running
      throw error
    }
    await group.triggerGracefulShutdown()
    try await running
    return value
  }
}
