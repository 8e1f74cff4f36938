/// What an import does with a record whose unique key is in the store already, and with objects that the file hasn't got.
package enum ImportMode: String, Codable, Sendable, Hashable, CaseIterable {
  /// It is rejected.
  case insert
  /// The object there takes the record's values.
  case upsert
  /// The same; a record without an object there is rejected.
  case update
  /// All objects of the entity give way to the records, at once.
  case replace
  /// As upsert; objects that the file hasn't got are deleted at the end.
  case synchronise
}
