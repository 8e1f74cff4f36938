/// What an import does with a record whose unique key is already in the store, and with objects that the file doesn't
/// contain.
public enum ImportMode: String, Codable, Sendable, Hashable, CaseIterable {
  /// Every record becomes a new object. A record whose key is already in the store is rejected.
  case insert
  /// A record updates the object with the same unique key, or becomes a new object.
  case upsert
  /// A record updates the object with the same unique key. A record without such an object is rejected.
  case update
  /// The records replace all objects of the entity, in one transaction whatever the atomicity.
  ///
  /// A record whose key belongs to an existing object takes that object's place: references to it, and its to-many
  /// relationships that the source doesn't mention, lead to the new object. Everything else that the source doesn't
  /// mention is as in a new object. A record that doesn't differ from its object isn't written, so the counts are those
  /// of changes; without a unique key, they are all old objects and all records. Objects that no record describes
  /// are deleted with the model's delete rules; if these rules, or a reference that mustn't be empty, forbid a deletion,
  /// the job fails and nothing changes. A rejected record describes its object as in ``synchronise``, so that object stays
  /// as it was, unless a valid record has the same key; a record that has one of its unique values is rejected. Of several
  /// valid records with one key, all but the first are rejected. Objects of sub-entities stay, and so do those with
  /// another constant part of the key, as in ``synchronise``.
  case replace
  /// As ``upsert``, then deletes the objects that no record describes.
  ///
  /// Only objects of exactly this entity are deleted, not those of sub-entities. A rejected record still describes its
  /// object if its key can be read. If the key of any record can't be read, nothing is deleted, and a note says so.
  /// Records that the filter skips describe nothing. Where the recipe gives a part of the key as a constant, only objects
  /// with that constant are considered. An object that another object needs stays, and a note names it.
  case synchronise

  /// Whether records look up the objects that the store already has, by unique key.
  package var findsObjects: Bool { self != .insert }

  /// Whether a record without a unique key is useless.
  package var needsKey: Bool { findsObjects && self != .replace }

  /// Whether objects that no record describes are deleted.
  package var deletesOthers: Bool { self == .replace || self == .synchronise }
}
