/// What is read of bytes without making a text of them.
enum ValueBytes {
  /// A whole number without a sign.
  static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard (1...18).contains(bytes.count) else { return nil }
    var number: Int64 = 0
    for byte in bytes {
      let digit = byte &- 0x30
      guard digit < 10 else { return nil }
      number = number * 10 + Int64(digit)
    }
    return number
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let last = bytes.last, JSONToken.isSpace(last) { bytes.removeLast() }
    return bytes.drop(while: JSONToken.isSpace)
  }
}

/// Whether a text is a number, and whether Excel wrote more digits of it than it means.
struct NumberText {
  private let isNumber: Bool
  private let isTooPrecise: Bool

  /// The digits that Excel keeps of a number that is entered.
  private static let digits = 15

  private init(_ text: UnsafeBufferPointer<UInt8>) {
    guard let start = text.baseAddress, case let end = start + text.count,
      case .end(end) = JSONToken.number(start, end, final: true)
    else {
      (isNumber, isTooPrecise) = (false, false)
      return
    }
    isNumber = true
    guard text.count > Self.digits else {
      isTooPrecise = false
      return
    }
    var significant = 0
    var isWhole = true
    for byte in text {
      if byte == UInt8(ascii: ".") {
        isWhole = false
      } else if byte | 0x20 == UInt8(ascii: "e") {
        isWhole = false
        break
      } else if byte &- 0x30 < 10, significant > 0 || byte != UInt8(ascii: "0") {
        significant += 1
      }
    }
    isTooPrecise = !isWhole && significant > Self.digits
  }

  /// The kind of the number that stands from a place on, which is replaced by its shortest text if a program wrote more
  /// digits than it means; nil if there is none.
  static func shorten(_ text: inout [UInt8], from start: Int) -> Cell.Kind? {
    if text.count == start { return nil }
    let shape = text.withUnsafeBufferPointer { NumberText(UnsafeBufferPointer(rebasing: $0[start...])) }
    // No program writes that. It is what it is: a text.
    guard shape.isNumber else { return .text }
    guard shape.isTooPrecise, let value = Double(String(decoding: text[start...], as: UTF8.self)), value.isFinite
    else { return .quantity }
    // 1.1 is 1.1000000000000001 in 17 digits. The shortest text of the same number is its value.
    text.removeSubrange(start...)
    text.append(contentsOf: value.description.utf8)
    return .quantity
  }
}

/// What stands in a cell in place of a value.
enum CellFault {
  private static let shown = 100
  /// More bytes than any error has.
  static let longest = 16

  /// Appends a formula that no program has computed, without its `=`.
  static func append(formula: some Collection<UInt8>, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "="))
    output.append(contentsOf: String(decoding: formula.prefix(shown), as: UTF8.self).utf8)
  }

  /// Whether a text is what a formula's cell shows in place of a value.
  static func isError(_ text: [UInt8]) -> Bool {
    let text = String(decoding: text.prefix(longest), as: UTF8.self)
    return errors.contains(text) || text.wholeMatch(of: /Err:[0-9]{3}/) != nil
  }

  private static let errors: Set<String> = [
    "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!",
  ]
}
