import Logging

/// Writes lines to stderr, where no journal takes them with their fields.
struct TextLogHandler: LogHandler {
  private let stream: StreamLogHandler
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(label: String) { stream = StreamLogHandler.standardError(label: label) }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: Logging.LogEvent) { write(LogText(event, over: metadata).text, of: event) }

  /// A line that is put together already.
  func write(_ text: String, of event: Logging.LogEvent) {
    var event = event
    event.message = "\(text)"
    event.metadata = nil
    stream.log(event: event)
  }
}
