import Foundation

/// The value of a number in a format: an integer if it is whole and fits, a double if that preserves the digits, otherwise
/// a decimal.
enum NumberLiteral {
  static func value(of text: String) -> Value? {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.lowercased().hasPrefix(prefix) {
      return Int64(text.dropFirst(2), radix: radix).map(Value.int)
    }
    guard text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || ".eE+-".utf8.contains($0) }) else { return nil }
    if let integer = Int64(text) { return .int(integer) }
    guard let double = Double(text) else { return nil }
    // A double preserves fifteen digits.
    if digits(in: text) <= 15 || !double.isFinite { return double.isFinite ? .double(double) : nil }
    guard let decimal = Decimal(string: text), !decimal.isNaN else { return .double(double) }
    return Decimal(string: "\(double)") == decimal ? .double(double) : .decimal(decimal)
  }

  private static func digits(in text: String) -> Int {
    let mantissa = text.prefix { $0 != "e" && $0 != "E" }
    let all = mantissa.filter(\.isNumber).drop { $0 == "0" }
    return all.count
  }
}
