import Logging
import Synchronization

/// Keeps what is logged, for tests to read.
final class LogRecord: Sendable {
  struct Line: Sendable, Equatable {
    var level: Logger.Level
    var message: String
    var metadata: [String: String]
  }

  private let kept = Mutex<[Line]>([])

  var lines: [Line] { kept.withLock { $0 } }
  /// The lines that carry a job's number.
  func lines(of job: Int64) -> [Line] { lines.filter { $0.metadata["job"] == "\(job)" } }

  var logger: Logger {
    var logger = Logger(label: "test") { _ in Handler(record: self) }
    logger.logLevel = .info
    return logger
  }

  private struct Handler: LogHandler {
    let record: LogRecord
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(record: LogRecord) { self.record = record }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: Logging.LogEvent) {
      let values = metadata.merging(event.metadata ?? [:]) { $1 }
      record.kept.withLock {
        $0.append(Line(level: event.level, message: "\(event.message)", metadata: values.mapValues(\.description)))
      }
    }
  }
}
