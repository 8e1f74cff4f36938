import ControlAPI
import Logging

/// What is logged, as one line for people.
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
