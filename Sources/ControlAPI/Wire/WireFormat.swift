// The words of the interface are those of the whole system.
@_exported public import LadeTypes
package import FoundationEssentials
import Spelling

/// How values are written on the wire: JSON with snake_case keys and ISO 8601 dates in UTC with milliseconds.
package enum WireFormat {
  /// A value as JSON.
  /// - Parameters:
  ///   - pretty: on several lines, with the keys in order, for people and for comparing.
  ///   - sorted: with the keys in order, on one line.
  package static func encode(_ value: some Encodable, pretty: Bool = false, sorted: Bool = false) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
    if pretty || sorted { encoder.outputFormatting.insert(.sortedKeys) }
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(text(of: date))
    }
    return try encoder.encode(value)
  }

  /// Reads a value from JSON.
  /// - Throws: `DecodingError`.
  package static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from data: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      guard let date = date(of: text) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "'\(text)' isn't an ISO 8601 time such as 2026-03-01T12:00:00Z")
      }
      return date
    }
    return try decoder.decode(type, from: data)
  }

  /// `2026-03-01T12:00:00.250Z`.
  package static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSince1970
    // From 1970 to the end of 9999; the general way takes twenty times as long.
    guard seconds >= 0, seconds < 253_402_300_800 else {
      return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
    let reference = date.timeIntervalSinceReferenceDate
    let milliseconds = Int((reference - reference.rounded(.down)) * 1e9) / 1_000_000
    let whole = Int(reference.rounded(.down)) + 978_307_200
    return text(day: whole / 86_400, second: whole % 86_400, milliseconds)
  }

  /// - Parameter day: since the first of 1970.
  private static func text(day: Int, second: Int, _ milliseconds: Int) -> String {
    let date = CivilDate.date(days: day)
    return String(unsafeUninitializedCapacity: 24) { bytes in
      var place = 0
      func write(_ number: Int, digits: Int, then end: UInt8) {
        var rest = number
        for digit in stride(from: place + digits - 1, through: place, by: -1) {
          bytes[digit] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        bytes[place + digits] = end
        place += digits + 1
      }
      write(Int(date.year), digits: 4, then: UInt8(ascii: "-"))
      write(Int(date.month), digits: 2, then: UInt8(ascii: "-"))
      write(Int(date.day), digits: 2, then: UInt8(ascii: "T"))
      write(second / 3600, digits: 2, then: UInt8(ascii: ":"))
      write(second / 60 % 60, digits: 2, then: UInt8(ascii: ":"))
      write(second % 60, digits: 2, then: UInt8(ascii: "."))
      write(milliseconds, digits: 3, then: UInt8(ascii: "Z"))
      return place
    }
  }

  /// The date that an ISO 8601 time with a zone means, with or without a fraction of the second.
  package static func date(of text: String) -> Date? {
    let whole = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return (try? whole.parse(text)) ?? (try? fractional.parse(text))
  }
}
