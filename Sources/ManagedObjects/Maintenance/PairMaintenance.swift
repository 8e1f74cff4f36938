/// What a store with tables of pairs, of many-to-many relationships, can do about pairs that no object shows: those of which
/// one object isn't there any more.
package protocol PairMaintenance: IncrementalStore {
  /// How many such pairs each many-to-many relationship has, of those that have some.
  func danglingPairs() throws -> [(relationship: RelationshipDescription, count: Int)]
  /// Removes them, in one transaction.
  /// - Returns: how many of each relationship were removed.
  func removeDanglingPairs() throws -> [(relationship: RelationshipDescription, count: Int)]
}
