/// The part of a URL after the question mark. Both sides use it, so that what one writes the other reads.
package struct QueryString: Sendable, Hashable {
  private var items: [(name: String, value: String)] = []

  /// An empty one.
  package init() {}

  /// Reads `a=b&c=d`, percent-encoded; a plus sign is a space, as HTML forms and most clients write it.
  /// - Throws: ``QueryError`` for a name that is there twice, or escapes that aren't UTF-8.
  package init(parsing text: String) throws {
    for item in text.split(separator: "&") {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(parts[0])
      guard self[name] == nil else { throw QueryError.repeated(name: name) }
      items.append((name, parts.count > 1 ? try Self.decoded(parts[1]) : ""))
    }
  }

  /// The value of a parameter; nil when it isn't there.
  package subscript(name: String) -> String? {
    get { items.first { $0.name == name }?.value }
    set {
      items.removeAll { $0.name == name }
      if let newValue { items.append((name, newValue)) }
    }
  }

  /// The names of the parameters that are there.
  package var names: [String] { items.map(\.name) }

  /// The form for a URL, without the question mark.
  package var text: String {
    items.map { Self.percentEncoded($0.name) + "=" + Self.percentEncoded($0.value) }.joined(separator: "&")
  }

  package static func == (a: Self, b: Self) -> Bool { a.text == b.text }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// Everything but RFC 3986's unreserved characters as `%XX`.
  package static func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func decoded(_ text: Substring) throws -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        let digits = rest.prefix(2)
        guard digits.count == 2, !digits.contains(UInt8(ascii: "+")), !digits.contains(UInt8(ascii: "-")),
          let value = UInt8(Substring(digits), radix: 16)
        else { throw QueryError.malformed(String(text)) }
        bytes.append(value)
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else { throw QueryError.malformed(String(text)) }
    return decoded
  }
}

extension QueryString {
  /// Refuses a misspelt parameter instead of answering another question than was asked.
  /// - Throws: ``QueryError/unknown(name:known:)``.
  package func refuseNames(otherThan known: [String]) throws {
    for name in names where !known.contains(name) { throw QueryError.unknown(name: name, known: known) }
  }

  /// A parameter's words, with commas between; empty when it isn't there.
  package func list(_ name: String) -> [String] {
    self[name]?.split(separator: ",").map { word in
      var word = word
      while word.first == " " { word.removeFirst() }
      while word.last == " " { word.removeLast() }
      return String(word)
    } ?? []
  }

  /// A parameter that is a whole number; nil when it isn't there.
  /// - Throws: ``QueryError/invalid(name:value:expected:)``.
  package func integer(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
    guard let text = self[name] else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      let bounds =
        range.upperBound == .max ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
      throw QueryError.invalid(name: name, value: text, expected: "a whole number \(bounds)")
    }
    return number
  }

  /// A parameter that is `true` or `false`; nil when it isn't there. `1` and nothing after the name are true, too.
  /// - Throws: ``QueryError/invalid(name:value:expected:)``.
  package func flag(_ name: String) throws -> Bool? {
    switch self[name] {
    case nil: return nil
    case "true", "1", "": return true
    case "false", "0": return false
    case let text?: throw QueryError.invalid(name: name, value: text, expected: "true or false")
    }
  }
}

extension String {
  /// The word as one of several.
  /// - Throws: ``QueryError/invalid(name:value:expected:)``.
  func asWord<Word: RawRepresentable & CaseIterable>(of type: Word.Type, in name: String) throws -> Word
  where Word.RawValue == String {
    guard let word = Word(rawValue: self) else {
      let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw QueryError.invalid(name: name, value: self, expected: "one of " + known)
    }
    return word
  }
}

/// What is wrong with a request's query.
package enum QueryError: Error, Sendable, Hashable, CustomStringConvertible {
  case unknown(name: String, known: [String])
  case repeated(name: String)
  case missing(name: String)
  case invalid(name: String, value: String, expected: String)
  /// Percent escapes that aren't UTF-8.
  case malformed(String)

  package var description: String {
    switch self {
    case .unknown(let name, let known):
      "there is no parameter '\(name)' here; there are \(known.joined(separator: ", "))"
    case .repeated(let name): "the parameter '\(name)' is given twice"
    case .missing(let name): "the parameter '\(name)' is missing"
    case .invalid(let name, let value, let expected): "the parameter '\(name)' is '\(value)', but must be \(expected)"
    case .malformed(let text): "'\(text)' isn't percent-encoded UTF-8"
    }
  }
}
