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
  /// The range of the numbers, however they are written.
  private var wholes = WholeRange()
  /// The notation of numbers that aren't plain.
  private var notation = NumberNotation()

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
    if !notation.isRuledOut { notation.note(text) }
  }

  mutating func noteBoolean() {
    hasValues = true
    notation.ruleOut()
    (mayBeInteger, mayBeNumber, mayBeUUID, mayBeURI, mayBeISODate, forms) = (false, false, false, false, false, 0)
  }

  private mutating func note(_ number: NumberShape) {
    significant = max(significant, number.significant)
    leastFraction = min(leastFraction, number.fraction)
    greatestFraction = max(greatestFraction, number.fraction)
    hasExponent = hasExponent || number.hasExponent
    if number.fraction > 0 || number.hasExponent { isAllWhole = false }
    wholes.note(number.whole)
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
    return equals("true") || equals("false") || equals("yes") || equals("no")
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

/// The inferred type of a column.
struct InferredType: Hashable {
  var type: AttributeType
  var dateFormat: String?
  /// A note on the choice, for the person who reviews the model.
  var note: String?
  /// Other types as which an import reads all values, too.
  var others: [AttributeType] = []
  /// The range of whole numbers in a notation of which another type is inferred.
  var wholeRange: ClosedRange<Int64>?
}

/// The range of a column's numbers, as long as all are whole and fit 64 bits.
struct WholeRange: Sendable {
  private var areWhole = true
  /// nil if there are no numbers, or one isn't whole.
  private(set) var range: ClosedRange<Int64>?

  /// - Parameter number: nil for one that isn't whole.
  mutating func note(_ number: Int64?) {
    guard areWhole, let number else {
      areWhole = false
      range = nil
      return
    }
    range = min(range?.lowerBound ?? number, number)...max(range?.upperBound ?? number, number)
  }
}

extension ColumnTypes {
  /// The type for a column of this name.
  ///
  /// 0 and 1 stay whole numbers: only the words true, false, yes and no make a Boolean. Two digits after the point in every
  /// value, a name that suggests money, and digits that a Double can't hold make a Decimal. Whole numbers have 64 bits: the
  /// next file may have greater ones, and fewer bits save nothing in the store. Seconds, milliseconds or microseconds since 1970 are dates
  /// only if the column's name suggests dates.
  func type(named name: String) -> InferredType {
    guard hasValues else { return InferredType(type: .string, note: "it has no values; taken as text") }
    if mayBeBoolean { return InferredType(type: .boolean) }
    if mayBeUUID { return InferredType(type: .uuid) }
    let words = EntityNames.words(of: name).map { $0.lowercased() }
    if mayBeNumber {
      if forms & (1 << UInt32(DateForm.compact)) != 0 {
        if DateForm.isNamed(name) { return InferredType(type: .date, dateFormat: "yyyyMMdd") }
        return InferredType(type: .integer64, note: "its values could be dates (yyyyMMdd); taken as whole numbers")
      }
      if words.contains(where: Self.codes.contains) { return InferredType(type: .string) }
      if mayBeInteger, let unit = UnixTimeUnit(least: least, greatest: greatest) {
        if UnixTimeUnit.isNamed(name) { return InferredType(type: .date, dateFormat: unit.rawValue) }
      }
      return number(words)
    }
    if mayBeISODate { return InferredType(type: .date) }
    if forms != 0 { return date }
    if mayBeURI { return InferredType(type: .uri) }
    return InferredType(
      type: .string, note: notation.advice(NameText.property(of: name)), others: notation.otherTypes,
      wholeRange: notation.wholeRange)
  }

  private func number(_ words: [String]) -> InferredType {
    if mayBeInteger { return InferredType(type: .integer64) }
    if significant > 38 {
      return isAllWhole
        ? InferredType(type: .string, note: "its numbers have more than 38 digits; taken as text")
        : InferredType(type: .double, note: "its numbers have more digits than any type holds; they are rounded")
    }
    if isAllWhole { return InferredType(type: .decimal) }
    let isMoney = greatestFraction <= 4 && words.contains(where: Self.money.contains)
    let isExact = significant > 17 || (leastFraction == 2 && greatestFraction == 2) || isMoney
    return InferredType(
      type: isExact && !hasExponent ? .decimal : .double, others: wholes.range == nil ? [] : [.integer64],
      wholeRange: wholes.range)
  }

  private var date: InferredType {
    let found = DateForm.all.indices.filter { forms & (1 << UInt32($0)) != 0 }.map { DateForm.all[$0].format }
    if found.count == 1 { return InferredType(type: .date, dateFormat: found[0]) }
    return InferredType(
      type: .string,
      note: "its values may be dates as \(found.joined(separator: " or ")), and none decides which; taken as text")
  }

  /// Numbers only by their appearance: another file may have one that begins with a zero.
  private static let codes: Set<String> = [
    "ean", "fax", "gtin", "iban", "isbn", "mobile", "phone", "plz", "postal", "postcode", "sku", "ssn", "tel",
    "telephone",
    "zip", "zipcode",
  ]
  private static let money: Set<String> = [
    "amount", "balance", "cost", "costs", "fare", "fee", "gross", "net", "price", "salary", "tax", "total", "vat",
  ]
}

extension UnixTimeUnit {
  /// The unit in which all numbers of a range are from 1990 to 2099; nil if there is none.
  fileprivate init?(least: Int64, greatest: Int64) {
    let unit = Self.allCases.first { unit in
      let years = 631_152_000 * unit.perSecond...4_102_444_800 * unit.perSecond
      return years.contains(least) && years.contains(greatest)
    }
    guard let unit else { return nil }
    self = unit
  }

  /// Whether a column of this name may count time.
  fileprivate static func isNamed(_ name: String) -> Bool {
    EntityNames.words(of: name).contains { ["timestamp", "time", "ts", "epoch", "at"].contains($0.lowercased()) }
  }
}

/// The forms of dates that are tried, besides ISO 8601.
struct DateForm: Sendable {
  let format: String
  let pattern: DatePattern

  /// A number of eight digits counts as a date only if the column's name suggests one.
  static let compact = 0

  static let all: [DateForm] = [
    "yyyyMMdd", "yyyy/MM/dd", "dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "yyyy/MM/dd HH:mm:ss", "dd.MM.yyyy HH:mm",
    "dd.MM.yyyy HH:mm:ss", "dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm", "dd/MM/yyyy HH:mm:ss", "MM/dd/yyyy HH:mm:ss",
    "MM/dd/yyyy hh:mm:ss a", "d MMM yyyy", "d-MMM-yyyy", "EEE, d MMM yyyy HH:mm:ss Z",
  ].map { format in
    do {
      return DateForm(format: format, pattern: try DatePattern(format, attribute: ""))
    } catch {
      preconditionFailure("\(format) is in the list above: \(error)")
    }
  }

  /// Whether the text is a date of this form, limited to the years 1900 to 2099 where nothing else identifies it.
  func fits(_ text: UnsafeRawBufferPointer, isCompact: Bool) -> Bool {
    guard let instant = pattern.microsecondsSince1970(text) else { return false }
    return !isCompact || (-2_208_988_800_000_000..<4_102_444_800_000_000).contains(instant)
  }

  /// Whether a column of this name may hold dates.
  static func isNamed(_ name: String) -> Bool {
    let words = EntityNames.words(of: name).map { $0.lowercased() }
    return words.contains { word in
      Self.words.contains(word) || word.hasSuffix("date") || word.hasPrefix("date") || word.hasSuffix("datum")
    }
  }

  private static let words: Set<String> = [
    "at", "birth", "birthday", "born", "closed", "created", "day", "deadline", "died", "dob", "due", "ended", "expires",
    "expiry", "fecha", "from", "modified", "on", "opened", "since", "started", "until", "updated", "valid", "when",
  ]
}
