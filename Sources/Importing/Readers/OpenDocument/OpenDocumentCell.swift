/// The cells of a table: their values, which attributes have, and their texts, in paragraphs.
/// Source: OpenDocument 1.3, part 3, 9.1.4 and 19.387.
final class OpenDocumentCell {
  private let part: PartReader
  private let prefixes: OpenDocumentTables.Prefixes
  private let paragraphs: OpenDocumentParagraphs
  private var formula: [UInt8] = []

  private enum ValueType {
    case number, date, time, boolean, text

    /// - Returns: nil for a name that says nothing about a value.
    init?(_ name: UnsafeBufferPointer<UInt8>?) {
      guard let name else { return nil }
      switch String(decoding: name, as: UTF8.self) {
      case "float", "percentage", "currency": self = .number
      case "date": self = .date
      case "time": self = .time
      case "boolean": self = .boolean
      case "string": self = .text
      default: return nil
      }
    }

    /// The attribute that has the value.
    var attribute: StaticString {
      switch self {
      case .number: "value"
      case .date: "date-value"
      case .time: "time-value"
      case .boolean: "boolean-value"
      case .text: "string-value"
      }
    }
  }

  init(_ part: PartReader, _ prefixes: OpenDocumentTables.Prefixes, maximumTextBytes: Int) {
    self.part = part
    self.prefixes = prefixes
    paragraphs = OpenDocumentParagraphs(part, limit: maximumTextBytes)
  }

  /// Reads the cell that has begun, to its end, and appends its text; nil if it is empty.
  func read(into output: inout [UInt8]) throws(ReaderError) -> Cell.Kind? {
    let start = output.count
    let type = ValueType(part.attribute("value-type", prefix: prefixes.office))
    let isFault = prefixes.extended.flatMap { part.attribute("value-type", prefix: $0) }.map {
      $0.elementsEqual("error".utf8)
    }
    let hasFormula = readFormula()
    var hasValue = false
    if isFault != true, let type, let value = part.attribute(type.attribute) {
      part.append(value, to: &output)
      hasValue = true
    }
    if hasValue, !hasFormula {
      try part.skip()
      return kind(of: type, &output, from: start)
    }
    // What stands beside a value is looked at for an error.
    let hasText = try paragraphs.read(keeping: hasValue ? CellFault.longest : .max)
    if isFault == true || (hasFormula && CellFault.isError(paragraphs.text)) {
      output.replaceSubrange(start..., with: paragraphs.text.isEmpty ? Array("#ERROR!".utf8) : paragraphs.text)
      return .fault
    }
    if hasValue { return kind(of: type, &output, from: start) }
    if hasText || type == .text {
      output.append(contentsOf: paragraphs.text)
      return .text
    }
    guard hasFormula else { return nil }
    CellFault.append(formula: formula, to: &output)
    return .fault
  }

  /// Keeps the cell's formula, without what names its language and begins it, `of:=`.
  private func readFormula() -> Bool {
    guard let value = part.attribute("formula") else { return false }
    formula.removeAll(keepingCapacity: true)
    part.append(value, to: &formula)
    if let sign = formula.firstIndex(of: UInt8(ascii: "=")) { formula.removeSubrange(...sign) }
    return true
  }

  /// The kind of the value that stands from a place on, and is replaced by what it means; nil if the cell is empty.
  private func kind(of type: ValueType?, _ output: inout [UInt8], from start: Int) -> Cell.Kind? {
    switch type {
    case .text, nil: return .text
    case .number: return number(&output, from: start)
    case .date: return output.count > start ? .date : nil
    case .time:
      guard let duration = OpenDocumentDuration(output[start...]) else { return output.count > start ? .text : nil }
      output.removeSubrange(start...)
      duration.append(to: &output)
      return duration.isTimeOfDay ? .date : .text
    case .boolean:
      switch output[start...].first {
      case UInt8(ascii: "1"), UInt8(ascii: "t"): return .yes
      case UInt8(ascii: "0"), UInt8(ascii: "f"): return .no
      default: return output.count > start ? .text : nil
      }
    }
  }

  /// Numbers of XML may begin with a plus, or have no digit on one side of the point.
  private func number(_ output: inout [UInt8], from start: Int) -> Cell.Kind? {
    let kind = NumberText.shorten(&output, from: start)
    guard kind == .text, output[start...].allSatisfy({ "+-.0123456789Ee".utf8.contains($0) }),
      let value = Double(String(decoding: output[start...], as: UTF8.self)), value.isFinite
    else { return kind }
    output.replaceSubrange(start..., with: value.description.utf8)
    return .quantity
  }
}

/// A duration as XML has it, `PT12H30M00S`, without years and months.
struct OpenDocumentDuration {
  private let isNegative: Bool
  private let milliseconds: Int64

  /// Digits of a number; more would be some thousand years in hours.
  private static let digits = 9

  init?(_ text: ArraySlice<UInt8>) {
    var rest = text
    isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest = rest.dropFirst() }
    guard rest.popFirst() == UInt8(ascii: "P") else { return nil }
    // The designators in their order, and the milliseconds of each.
    var units: [(name: UInt8, milliseconds: Int64)] = [(UInt8(ascii: "D"), 86_400_000)]
    var total: Int64 = 0
    var isEmpty = true
    while !rest.isEmpty {
      if rest.first == UInt8(ascii: "T") {
        guard units.first?.name != UInt8(ascii: "H"), units.count < 2 else { return nil }
        rest = rest.dropFirst()
        units = [(UInt8(ascii: "H"), 3_600_000), (UInt8(ascii: "M"), 60_000), (UInt8(ascii: "S"), 1_000)]
        guard !rest.isEmpty else { return nil }
        continue
      }
      let whole = rest.prefix { $0 &- 0x30 < 10 }
      guard let number = whole.withUnsafeBufferPointer({ ValueBytes.number($0) }), whole.count <= Self.digits else {
        return nil
      }
      rest = rest.dropFirst(whole.count)
      var fraction: ArraySlice<UInt8> = []
      if rest.first == UInt8(ascii: ".") {
        fraction = rest.dropFirst().prefix { $0 &- 0x30 < 10 }
        rest = rest.dropFirst(fraction.count + 1)
      }
      guard let name = rest.popFirst(), let place = units.firstIndex(where: { $0.name == name }),
        fraction.isEmpty || name == UInt8(ascii: "S")
      else { return nil }
      total += number * units[place].milliseconds + Self.milliseconds(fraction)
      units.removeFirst(place + 1)
      isEmpty = false
    }
    guard !isEmpty else { return nil }
    milliseconds = total
  }

  /// Whether it may as well be the time of a day.
  var isTimeOfDay: Bool { !isNegative && milliseconds < 86_400_000 }

  /// Appends it as hours, minutes and seconds, `12:30:00`.
  func append(to output: inout [UInt8]) {
    if isNegative { output.append(UInt8(ascii: "-")) }
    ClockText.append(milliseconds: milliseconds, to: &output)
  }

  /// The rounded value of the digits behind a point.
  private static func milliseconds(_ fraction: ArraySlice<UInt8>) -> Int64 {
    var value: Int64 = 0
    for index in 0..<4 {
      let digit = fraction.dropFirst(index).first.map { Int64($0 &- 0x30) } ?? 0
      value = value * 10 + digit
    }
    return (value + 5) / 10
  }
}
