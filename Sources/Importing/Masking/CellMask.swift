import ManagedObjects

/// A mask for the texts of one column, with its key.
///
/// Masking happens once: what has been masked is recognised when it comes again in a corrected reject file. `redact`,
/// `keep_last` and `truncate` leave their own results as they are. An HMAC doesn't, so it is sealed in reject files: behind a
/// mark, with a code that only the key makes. A text of that form with another code is refused, so nothing can be
/// brought in under the seal that wasn't masked by this key before.
struct CellMask: Sendable {
  private enum Kind: Sendable {
    case hmac(HMACSHA256)
    case redact
    case keepLast(Int)
    case truncate(Int)
  }

  /// What becomes of a text.
  enum Masked {
    case text([UInt8])
    case null
    /// It is sealed, but not by this key.
    case foreign
  }

  private static let redaction = Array(ValueMask.redaction.utf8)
  private static let seal = Array("ladehmac".utf8)
  private static let sealedBy = Array("lade reject file\0".utf8)
  private static let hmacDigits = 64
  private static let checkDigits = 16

  private let kind: Kind
  /// Whether the property holds texts; null takes the place of any other value.
  private let isText: Bool
  private let trims: Bool
  private let nulls: TextSet?
  /// What separates several texts in one.
  private let separator: String?

  init(
    _ mask: ValueMask, isText: Bool, trims: Bool = false, nulls: [String] = [], separator: String? = nil,
    _ keys: MaskKeys
  ) throws(MaskingError) {
    switch mask {
    case .hmac(let credential): kind = .hmac(try keys.hmac(credential))
    case .redact: kind = .redact
    case .keepLast(let count): kind = .keepLast(count)
    case .truncate(let count): kind = .truncate(count)
    }
    self.isText = isText
    self.trims = trims
    self.nulls = nulls.isEmpty ? nil : TextSet(nulls)
    self.separator = separator
  }

  /// Whether it makes texts of texts, and not null of everything.
  var isOfTexts: Bool { isText }

  /// Masks a text, unless it is empty or means null.
  func masked(_ text: UnsafeRawBufferPointer) -> Masked {
    let text = trims ? ValueConverter.trimmed(text) : text
    if text.isEmpty { return .text([]) }
    if let nulls, nulls.contains(text) { return .null }
    guard isText else { return .null }
    guard let separator else { return one(text) }
    var parts: [String] = []
    for part in String(decoding: text, as: UTF8.self).split(separator: separator) {
      let bytes = Array(part.utf8)
      let result = bytes.withUnsafeBytes { bytes -> Masked in
        let part = ValueConverter.trimmed(bytes)
        return part.isEmpty || nulls?.contains(part) == true ? .null : one(part)
      }
      switch result {
      case .text(let bytes): parts.append(String(decoding: bytes, as: UTF8.self))
      case .null: break
      case .foreign: return .foreign
      }
    }
    return .text(Array(parts.joined(separator: separator).utf8))
  }

  /// A text that was masked, as a reject file has it.
  func sealed(_ text: [UInt8]) -> [UInt8] {
    guard case .hmac(let hmac) = kind, isText, !text.isEmpty else { return text }
    guard let separator else { return Self.sealed(text, hmac) }
    let parts = String(decoding: text, as: UTF8.self).split(separator: separator)
    return Array(parts.map { Self.sealed(Array($0.utf8), hmac) }.joined(separator: separator.utf8))
  }

  private func one(_ text: UnsafeRawBufferPointer) -> Masked {
    switch kind {
    case .redact: return .text(Self.redaction)
    case .keepLast(let count): return .text(Self.last(count, of: text))
    case .truncate(let count):
      let kept = String(decoding: text, as: UTF8.self).unicodeScalars.prefix(count)
      return .text(Array(String(String.UnicodeScalarView(kept)).utf8))
    case .hmac(let hmac):
      if text.count == Self.seal.count + Self.hmacDigits + Self.checkDigits, text.starts(with: Self.seal) {
        let code = Array(text[Self.seal.count..<Self.seal.count + Self.hmacDigits])
        return Self.sealed(code, hmac).elementsEqual(text) ? .text(code) : .foreign
      }
      return .text(Self.hexadecimal(hmac.code(of: text)))
    }
  }

  /// By scalars, so that the last ones of the result are the same again.
  private static func last(_ count: Int, of text: UnsafeRawBufferPointer) -> [UInt8] {
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
    let kept = scalars.suffix(count)
    guard kept.startIndex > scalars.startIndex, !text.elementsEqual(redaction) else { return redaction }
    return redaction + Array(String(String.UnicodeScalarView(kept)).utf8)
  }

  private static func sealed(_ code: [UInt8], _ hmac: HMACSHA256) -> [UInt8] {
    seal + code + hexadecimal(hmac.code(of: sealedBy + code)).prefix(checkDigits)
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }
}
