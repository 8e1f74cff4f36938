import ControlAPI
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

  /// Writes a complete line.
  func write(_ text: String, of event: Logging.LogEvent) {
    var event = event
    event.message = "\(Self.harmless(text))"
    event.metadata = nil
    stream.log(event: event)
  }

  /// The text made safe for one line. It contains names of files, which are chosen by those who write to the spool: a line break
  /// must not begin a fake line of the daemon, and nothing may move a terminal's cursor.
  static func harmless(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
    return text.unicodeScalars.reduce(into: "") { harmless, scalar in
      if scalar == "\n" {
        harmless += "\n    "
      } else {
        harmless.unicodeScalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
      }
    }
  }
}

/// An entry of the log as one line for people.
struct LogText {
  /// Beside the message, what was logged with it; a later value wins.
  let metadata: [String: String]
  /// The message and those of the facts that it doesn't say.
  let text: String

  init(_ event: Logging.LogEvent, over metadata: Logger.Metadata) {
    var values = metadata
    if let more = event.metadata { values.merge(more) { $1 } }
    self.metadata = values.mapValues(\.description)
    let message = event.message.description
    let facts = LogLine.facts(message, job: self.metadata["job"], self.metadata)
    text = facts.isEmpty ? message : message + " " + facts.joined(separator: " ")
  }
}
