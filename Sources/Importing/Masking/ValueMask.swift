/// How the values of a property are masked before anything else sees them.
///
/// Written as in a recipe, in a ticket and in the model's user info: `hmac(sha256, CREDENTIAL)`, `redact`, `keep_last(4)`,
/// `truncate(3)`.
public enum ValueMask: Sendable, Hashable {
  /// The HMAC of the text with SHA-256 and the key in a credential, as 64 hexadecimal digits. Equal texts have equal masks, so
  /// objects are found by them.
  case hmac(credential: String)
  /// `****`, whatever the text was; null, if the property isn't a text.
  case redact
  /// `****` and the last characters of a text that has more of them; `****` for any other.
  case keepLast(Int)
  /// The first characters of the text.
  case truncate(Int)
}

extension ValueMask {
  /// What stands in place of a text.
  static let redaction = "****"
  /// How many characters may be kept.
  private static let lengths = 1...1000

  /// A mask in words.
  package static let forms =
    "redact, keep_last(4), truncate(3) or hmac(sha256, NAME), where NAME is that of a credential"

  /// The mask that a text names; nil if it is none.
  public init?(_ text: String) {
    let text = text.filter { $0 != " " }
    if text == "redact" {
      self = .redact
      return
    }
    guard text.hasSuffix(")"), let bracket = text.firstIndex(of: "(") else { return nil }
    let arguments = text[text.index(after: bracket)...].dropLast().split(
      separator: ",", omittingEmptySubsequences: false)
    switch (text[..<bracket], arguments.count) {
    case ("keep_last", 1):
      guard let count = Self.length(arguments[0]) else { return nil }
      self = .keepLast(count)
    case ("truncate", 1):
      guard let count = Self.length(arguments[0]) else { return nil }
      self = .truncate(count)
    case ("hmac", 2):
      guard arguments[0] == "sha256", MaskCredentials.isName(arguments[1]) else { return nil }
      self = .hmac(credential: String(arguments[1]))
    default: return nil
    }
  }

  private static func length(_ text: Substring) -> Int? {
    guard let count = Int(text), Self.lengths.contains(count) else { return nil }
    return count
  }

  /// The first of some texts that it can make of another text; nil if it makes none of them.
  func possibleResult(among texts: [String]) -> String? {
    texts.first { text in
      switch self {
      case .redact: text == Self.redaction
      case .keepLast(let count):
        text.hasPrefix(Self.redaction) && text.dropFirst(Self.redaction.count).unicodeScalars.count <= count
      case .truncate(let count): !text.isEmpty && text.unicodeScalars.count == count
      case .hmac: false
      }
    }
  }

  /// The credential that it needs; nil if it needs none.
  package var credential: String? {
    if case .hmac(let name) = self { name } else { nil }
  }
}

extension ValueMask: CustomStringConvertible {
  /// The mask as it is written.
  public var description: String {
    switch self {
    case .hmac(let credential): "hmac(sha256, \(credential))"
    case .redact: "redact"
    case .keepLast(let count): "keep_last(\(count))"
    case .truncate(let count): "truncate(\(count))"
    }
  }
}

extension ValueMask: Codable {
  /// Reads what ``description`` wrote.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let mask = ValueMask(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "“\(text)” isn't a mask: write \(Self.forms)"))
    }
    self = mask
  }

  /// Writes it as in a recipe.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
