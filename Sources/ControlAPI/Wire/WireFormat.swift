package import FoundationEssentials

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
    date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// The date that an ISO 8601 time with a zone means, with or without a fraction of the second.
  package static func date(of text: String) -> Date? {
    let whole = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return (try? whole.parse(text)) ?? (try? fractional.parse(text))
  }
}

/// Any key at all, to see which ones are there.
private struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Decoder {
  /// Refuses an object that has a key which isn't one of these.
  /// - Throws: `DecodingError` that names the key.
  func refuseKeys<Keys: CodingKey & CaseIterable>(otherThan keys: Keys.Type) throws {
    for key in try container(keyedBy: AnyKey.self).allKeys where Keys(stringValue: key.stringValue) == nil {
      let known = keys.allCases.map(\.stringValue)
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: codingPath,
          debugDescription: "there is no '\(key.stringValue)' here; there are \(known.sorted().joined(separator: ", "))"
        ))
    }
  }
}
