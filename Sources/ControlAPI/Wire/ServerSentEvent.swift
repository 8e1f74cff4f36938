import FoundationEssentials

/// One event of an event stream, in the form of the HTML standard, section 9.2 "Server-sent events".
package struct ServerSentEvent: Sendable, Hashable {
  /// The event's type.
  package var name: String
  /// What it says; may have several lines.
  package var data: String

  /// An event of a type.
  package init(name: String, data: String) {
    self.name = name
    self.data = data
  }

  /// An event that says a value.
  init(name: String, json value: some Encodable) throws {
    self.init(name: name, data: String(decoding: try WireFormat.encode(value), as: UTF8.self))
  }

  /// The lines to send.
  package var encoded: String {
    var text = "event: \(name)\n"
    for line in data.split(separator: "\n", omittingEmptySubsequences: false) { text += "data: \(line)\n" }
    return text + "\n"
  }
}

/// Takes an event stream in pieces of any size and gives the events that are complete. A piece may end in the middle of
/// a line or of a character. Comments, ids and retry times are passed over; an event without data isn't one.
package struct ServerSentEventParser: Sendable {
  private var line: [UInt8] = []
  private var endedByReturn = false
  private var name = ""
  private var data: [String] = []

  /// At the stream's beginning.
  package init() {}

  /// The events that these bytes complete.
  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\n") where endedByReturn:
        endedByReturn = false
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        endedByReturn = byte == UInt8(ascii: "\r")
        if let event = takeLine() { events.append(event) }
      default:
        endedByReturn = false
        line.append(byte)
      }
    }
    return events
  }

  private mutating func takeLine() -> ServerSentEvent? {
    let text = String(decoding: line, as: UTF8.self)
    line.removeAll(keepingCapacity: true)
    guard !text.isEmpty else { return takeEvent() }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    var value = parts.count > 1 ? parts[1] : ""
    if value.first == " " { value.removeFirst() }
    switch parts[0] {
    case "event": name = String(value)
    case "data": data.append(String(value))
    default: break
    }
    return nil
  }

  private mutating func takeEvent() -> ServerSentEvent? {
    defer {
      name = ""
      data = []
    }
    guard !data.isEmpty else { return nil }
    return ServerSentEvent(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
  }
}

/// An event on a stream of jobs.
package enum ControlEvent: Sendable, Hashable {
  /// A job as it is now. Several changes in a row may be sent as one, the last.
  case job(Job)
  /// Changes were dropped because the client read too slowly; the stream ends here. Ask for the list,
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
