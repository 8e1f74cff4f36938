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
