import Logging
import Synchronization

/// The configured log level, shared by all loggers of the daemon.
final class LiveLogLevel: Sendable {
  private let value: Mutex<Logger.Level>

  init(_ level: Logger.Level) { value = Mutex(level) }

  var level: Logger.Level {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

/// Passes entries on to another handler, from the configured level on, which may change, or from the logger's own level.
struct LiveLogHandler: LogHandler {
  let live: LiveLogLevel
  private var handler: any LogHandler
  private var own: Logger.Level?

  init(_ live: LiveLogLevel, _ handler: any LogHandler) {
    self.live = live
    self.handler = handler
    self.handler.logLevel = .trace
  }

  var logLevel: Logger.Level {
    get { own ?? live.level }
    set { own = newValue }
  }

  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }

  var metadataProvider: Logger.MetadataProvider? {
    get { handler.metadataProvider }
    set { handler.metadataProvider = newValue }
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue }
  }

  func log(event: Logging.LogEvent) { handler.log(event: event) }
}
