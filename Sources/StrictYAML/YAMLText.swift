package import LadeTypes
import Yams

/// Values as a text that ``YAMLDocument`` reads as the same values, but for byte order marks that texts begin with: Yams reads none.
package enum YAMLText {
  /// A mapping in block style, its keys in the order given.
  /// - Parameter keys: those that lead to it.
  /// - Throws: what the writer of YAML throws.
  package static func of(_ pairs: [(key: String, value: OptionValue)], under keys: [String] = []) throws -> String {
    let inner = Node(pairs.map { (scalar($0.key), node($0.value)) }, Tag(.map), .block)
    let mapping = keys.reversed().reduce(inner) { Node([(scalar($1), $0)], Tag(.map), .block) }
    return try Yams.serialize(node: mapping, indent: 2, width: -1, allowUnicode: true)
  }

  private static func node(_ value: OptionValue) -> Node {
    switch value {
    case .string(let text): scalar(text)
    case .int(let number): Node(String(number), Tag(.implicit), .plain)
    case .double(let number): Node(String(number), Tag(.implicit), .plain)
    case .bool(let flag): Node(flag ? "true" : "false", Tag(.implicit), .plain)
    case .list(let values): Node(values.map(node), Tag(.seq), .flow)
    case .map(let values):
      Node(values.sorted { $0.key < $1.key }.map { (scalar($0.key), node($0.value)) }, Tag(.map), .block)
    }
  }

  /// A text, in quotes unless it can't be taken for anything else.
  private static func scalar(_ text: String) -> Node {
    Node(text, Tag(.str), isPlain(text) ? .plain : .doubleQuoted)
  }

  private static func isPlain(_ text: String) -> Bool {
    // "nan" and "inf" are numbers.
    guard let first = text.unicodeScalars.first, isLetter(first), !words.contains(text.lowercased()),
      Double(text) == nil
    else { return false }
    return text.unicodeScalars.allSatisfy {
      isLetter($0) || (0x30...0x39).contains($0.value) || ["_", "-", "."].contains($0)
    }
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    (0x41...0x5A).contains(scalar.value) || (0x61...0x7A).contains(scalar.value)
  }

  /// What readers of YAML 1.1 or 1.2 take for no text.
  private static let words: Set<String> = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
}
