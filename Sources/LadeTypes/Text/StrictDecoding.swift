/// Any key at all, to list the keys of an object.
private struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// A decoder that reports unknown keys in its own way, such as with their lines.
package protocol KeyCheckingDecoder: Decoder {
  /// Throws if the object has another key.
  func rejectKeys(otherThan known: [String]) throws
}

extension Decoder {
  /// Rejects an object with a key that the type doesn't have: a misspelt `priority` must not be a job without one.
  /// - Throws: a `DecodingError` that names the key.
  package func rejectUnknownKeys<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type) throws {
    if let decoder = self as? any KeyCheckingDecoder {
      return try decoder.rejectKeys(otherThan: keys.allCases.map(\.stringValue))
    }
    for key in try container(keyedBy: AnyKey.self).allKeys where Keys(stringValue: key.stringValue) == nil {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: codingPath,
          debugDescription: "there is no '\(key.stringValue)' here; there are "
            + keys.allCases.map(\.stringValue).sorted().joined(separator: ", ")))
    }
  }
}
