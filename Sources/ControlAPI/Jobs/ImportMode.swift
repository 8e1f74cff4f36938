/// What an import does with a record whose unique key is in the store already.
package enum ImportMode: String, Codable, Sendable, Hashable, CaseIterable {
  /// It is rejected.
  case insert
  /// The object there takes the record's values.
  case upsert
}
