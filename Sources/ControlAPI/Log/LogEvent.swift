import FoundationEssentials

/// What the daemon tells of its log on an event stream.
package enum LogEvent: Sendable, Hashable {
  case line(LogLine)
  /// So much was logged while the client didn't read that some was left out; the stream ends here.
  case lagged

  /// The event as it is sent.
  package func serverSentEvent() throws -> ServerSentEvent {
    switch self {
    case .line(let line): try ServerSentEvent(name: "line", json: line)
    case .lagged: ServerSentEvent(name: "lagged", data: "{}")
    }
  }

  /// The event that was sent; nil for a type that this version doesn't know, which a client passes over.
  /// - Throws: `DecodingError`.
  package init?(_ event: ServerSentEvent) throws {
    switch event.name {
    case "line": self = .line(try WireFormat.decode(LogLine.self, from: Data(event.data.utf8)))
    case "lagged": self = .lagged
    default: return nil
    }
  }
}
