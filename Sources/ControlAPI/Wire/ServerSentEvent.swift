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
