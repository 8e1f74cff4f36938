/// Any key at all, to list the keys of an object.
private struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Decoder {
  /// Rejects an object with a key that the type doesn't have: a misspelt `priority` must not be a job without one.
  /// - Throws: a `DecodingError` that names the key.
  package func rejectUnknownKeys<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type) throws {
    for key in try container(keyedBy: AnyKey.self).allKeys where Keys(stringValue: key.stringValue) == nil {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: codingPath,
          debugDescription: "there is no '\(key.stringValue)' here; there are "
            + keys.allCases.map(\.stringValue).sorted().joined(separator: ", ")))
    }
  }

  /// Whether a person wrote what is read, as a ticket: short forms are allowed then, such as `2h` for 7200 seconds.
  package var isReadingTicket: Bool { userInfo[.isTicket] as? Bool == true }
}

extension CodingUserInfoKey {
  /// Set to true by the decoder of tickets.
  package static var isTicket: CodingUserInfoKey {
    guard let key = CodingUserInfoKey(rawValue: "isTicket") else { preconditionFailure("every text is a key") }
    return key
  }
}
