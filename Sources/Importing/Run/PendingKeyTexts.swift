import Foundation

/// The keys of one row's pending references as they are stored: a JSON object of texts, such as `{"club":"C17"}`.
///
/// There is one for each row, and nearly all have neither quotation marks nor backslashes in their texts. Those are written and
/// read here; Foundation's coders, which take ten times as long, do the others.
enum PendingKeyTexts {
  /// The text of keys by the names of relationships. Equal keys have equal texts.
  static func text(of keys: [String: String]) throws -> String {
    guard keys.allSatisfy({ isPlain($0.key) && isPlain($0.value) }) else {
      return String(decoding: try JSONEncoder.sorted.encode(keys), as: UTF8.self)
    }
    var text = "{"
    for (name, key) in keys.sorted(by: { $0.key < $1.key }) {
      if text.utf8.count > 1 { text += "," }
      text += "\""
      text += name
      text += "\":\""
      text += key
      text += "\""
    }
    return text + "}"
  }

  /// The keys that a text says.
  /// - Throws: `DecodingError` when it isn't such a text.
  static func keys(in text: String) throws -> [String: String] {
    if let keys = plainKeys(in: text) { return keys }
    return try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
  }

  /// Whether JSON has a text just as it is.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  /// The keys in a text without spaces and backslashes; nil for any other.
  private static func plainKeys(in text: String) -> [String: String]? {
    let bytes = text.utf8
    guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}"), !bytes.contains(UInt8(ascii: "\\")) else {
      return nil
    }
    // Between the quotation marks of `{"a":"1","b":"2"}` stand the names and keys by turns, and `:` or `,`. By bytes, since a
    // mark that begins a text would join the quotation mark before it to one character.
    let parts = bytes.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false).map { Substring($0) }
    guard parts.count % 4 == 1, parts.count > 1, parts[0] == "{", parts[parts.count - 1] == "}" else { return nil }
    var keys: [String: String] = [:]
    for place in stride(from: 1, to: parts.count - 1, by: 4) {
      guard parts[place + 1] == ":", place + 3 == parts.count - 1 || parts[place + 3] == "," else { return nil }
      keys[String(parts[place])] = String(parts[place + 2])
    }
    return keys
  }
}
