extension FetchPredicate: Codable {
  /// Reads a predicate in the format language.
  /// - Throws: `DecodingError` that wraps the ``PredicateFormatError``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let format = try container.decode(String.self)
    do {
      try self.init(format: format)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error))
    }
  }

  /// Writes the predicate in the format language.
  /// - Throws: `EncodingError` for a comparison with objects, since IDs have no literal.
  public func encode(to encoder: any Encoder) throws {
    let format = description
    do {
      _ = try FetchPredicate(format: format)
    } catch {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "\(error)", underlyingError: error))
    }
    var container = encoder.singleValueContainer()
    try container.encode(format)
  }
}
