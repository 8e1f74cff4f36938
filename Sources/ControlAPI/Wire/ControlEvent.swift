import FoundationEssentials

/// What the daemon tells on an event stream.
package enum ControlEvent: Sendable, Hashable {
  /// A job as it is now. Several changes in a row may be told as the last of them.
  case job(Job)
  /// So many jobs changed while the client didn't read that some were left out; the stream ends here. Ask for the list,
  /// and open another stream.
  case lagged

  /// The event as it is sent.
  package func serverSentEvent() throws -> ServerSentEvent {
    switch self {
    case .job(let job): try ServerSentEvent(name: "job", json: job)
    case .lagged: ServerSentEvent(name: "lagged", data: "{}")
    }
  }

  /// The event that was sent; nil for a type that this version doesn't know, which a client passes over.
  /// - Throws: `DecodingError`.
  package init?(_ event: ServerSentEvent) throws {
    switch event.name {
    case "job": self = .job(try WireFormat.decode(Job.self, from: Data(event.data.utf8)))
    case "lagged": self = .lagged
    default: return nil
    }
  }
}
