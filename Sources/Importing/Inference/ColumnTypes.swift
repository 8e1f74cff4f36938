import Foundation
import ManagedObjects

/// The types that fit all values of a column, narrowed value by value.
struct ColumnTypes {
  private(set) var mayBeInteger = true
  private(set) var mayBeNumber = true
  private(set) var mayBeBoolean = true
  private(set) var mayBeUUID = true
  private(set) var mayBeURI = true
  private(set) var mayBeISODate = true
  /// A bit for each of ``DateForm/all``.
  private(set) var forms: UInt32 = (1 << UInt32(DateForm.all.count)) - 1
  private(set) var hasExponent = false
  private(set) var isAllWhole = true
  private(set) var significant = 0
  private(set) var leastFraction = Int.max
  private(set) var greatestFraction = 0
  private(set) var least: Int64 = .max
  private(set) var greatest: Int64 = .min
  /// Whether there were any values.
  private(set) var hasValues = false

  /// Takes a text into account, without spaces at its ends.
  mutating func note(_ text: UnsafeRawBufferPointer, isJSONNumber: Bool) {
    hasValues = true
    if mayBeNumber {
      if let number = NumberShape(text, isJSON: isJSONNumber) {
        note(number)
      } else {
        mayBeNumber = false
        mayBeInteger = false
      }
    }
    if mayBeBoolean { mayBeBoolean = Self.isBoolean(text) }
    if mayBeUUID { mayBeUUID = Self.isUUID(text) }
    if mayBeURI { mayBeURI = Self.isURI(text) }
    if mayBeISODate { mayBeISODate = ISODate.date(parsing: text.assumingMemoryBound(to: UInt8.self)) != nil }
    if forms != 0 { narrowForms(text) }
  }

  mutating func noteBoolean() {
    hasValues = true
    (mayBeInteger, mayBeNumber, mayBeUUID, mayBeURI, mayBeISODate, forms) = (false, false, false, false, false, 0)
  }

  private mutating func note(_ number: NumberShape) {
    significant = max(significant, number.significant)
    leastFraction = min(leastFraction, number.fraction)
    greatestFraction = max(greatestFraction, number.fraction)
    hasExponent = hasExponent || number.hasExponent
    if number.fraction > 0 || number.hasExponent { isAllWhole = false }
    guard let integer = number.integer else {
      mayBeInteger = false
      return
    }
    least = min(least, integer)
    greatest = max(greatest, integer)
  }

  private mutating func narrowForms(_ text: UnsafeRawBufferPointer) {
    var left = forms
    while left != 0 {
      let index = left.trailingZeroBitCount
      left &= left - 1
      if text.count > 40 || !DateForm.all[index].fits(text, isCompact: index == DateForm.compact) {
        forms &= ~(1 << UInt32(index))
      }
    }
  }

  private static func isBoolean(_ text: UnsafeRawBufferPointer) -> Bool {
    func equals(_ word: StaticString) -> Bool {
      text.count == word.utf8CodeUnitCount && text.indices.allSatisfy { text[$0] | 0x20 == word.utf8Start[$0] }
    }
    return equals("true") || equals("false")
  }

  private static func isUUID(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count == 36 else { return false }
    for (index, byte) in text.enumerated() {
      switch index {
      case 8, 13, 18, 23: if byte != 0x2D { return false }
      default: if byte &- 0x30 >= 10, (byte | 0x20) &- 0x61 >= 6 { return false }
      }
    }
    return true
  }

  /// With a scheme and `//`, or every word would be one.
  private static func isURI(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count > 6, let first = text.first, (first | 0x20) &- 0x61 < 26,
      let colon = text.prefix(16).firstIndex(of: UInt8(ascii: ":")), colon + 2 < text.count,
      text[colon + 1] == UInt8(ascii: "/"), text[colon + 2] == UInt8(ascii: "/")
    else { return false }
    return URL(string: String(decoding: text, as: UTF8.self), encodingInvalidCharacters: false) != nil
  }
}
