import Logging
import Systemd

/// Writes entries to systemd's journal, with fields by which they are found: `journalctl -u laded JOB_ID=12`. laded(8) lists
/// them.
struct JournalLogHandler: LogHandler {
  /// For what the journal doesn't take: the service manager reads stderr into it, too.
  private let otherwise: TextLogHandler
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(label: String) { otherwise = TextLogHandler(label: label) }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: Logging.LogEvent) {
    let line = LogText(event, over: metadata)
    do {
      try JournalWriter.send(
        message: line.text, priority: JournalWriter.Priority(event.level),
        fields: JournalField.fields(of: line.metadata))
    } catch {
      otherwise.write(line.text, of: event)
    }
  }
}

extension JournalWriter.Priority {
  /// syslog(3) has no `trace`, and thinks of `alert` and `emergency` as of more than a service's own trouble.
  init(_ level: Logger.Level) {
    switch level {
    case .trace, .debug: self = .debug
    case .info: self = .info
    case .notice: self = .notice
    case .warning: self = .warning
    case .error: self = .error
    case .critical: self = .critical
    }
  }
}
