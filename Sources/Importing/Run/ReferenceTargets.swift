import ManagedObjects

/// The objects that the references of a batch's rows lead to, by key: found in the store, made by earlier rows, or created
/// because a row refers to them.
///
/// An end is a relationship by its place: first the mapping's to-one relationships, then its to-many relationships.
final class ReferenceTargets {
  let ends: [ReferenceMapping]
  /// How many of the ends are to-one relationships; they come first.
  let referenceCount: Int
  /// For each end, whether it may lead to rows of this import itself.
  private let isOwn: [Bool]
  private var ids: [[Value: ManagedObjectID]] = []
  /// What to-many relationships will hold. Fetched together and retained, so that it isn't read again one by one.
  private var members: [ManagedObject] = []
  /// Objects created because rows refer to them.
  private(set) var created: Set<ManagedObjectID> = []
  private(set) var createdCounts: [String: Int64] = [:]

  init(_ mapping: RecordMapping) {
    ends = mapping.references + mapping.collections
    referenceCount = mapping.references.count
    isOwn = ends.map { mapping.entity.isKindOf($0.relationship.destinationEntity) }
  }

  /// Finds the objects of all keys in the rows: one fetch for each end.
  func find(in rows: ContiguousArray<ConvertedBatch.Row>, _ resolver: ReferenceResolver) throws {
    for (place, end) in ends.enumerated() {
      var keys: Set<Value> = []
      if place < referenceCount {
        keys = Set(rows.lazy.map { $0.keys[place] }.filter { $0 != .null && $0 != .unresolved })
        if let key = end.defaultKey, !key.isNull { keys.insert(key) }
      } else {
        for row in rows { row.lists[place - referenceCount].map { keys.formUnion($0) } }
      }
      ids.append(try resolver.find(end.relationship, by: end.key, keys: keys))
      if place >= referenceCount { members += try resolver.members(end.relationship, by: end.key, keys: keys) }
    }
  }

  /// The object of a key, if there is one.
  func id(_ place: Int, _ key: Value) -> ManagedObjectID? { ids[place][key] }

  /// Whether an end may lead to rows of this import itself, so that a later row may be the object that a key means.
  func isOwn(_ place: Int) -> Bool { isOwn[place] }

  /// The object of a key; created now if the recipe says so and no row has had it created.
  func create(_ place: Int, _ key: Value, in context: ManagedObjectContext) throws -> ManagedObjectID? {
    if let known = ids[place][key] { return known }
    guard let placeholder = ends[place].placeholder else { return nil }
    let id = try context.insert(placeholder.entity, values: placeholder.values(key)).objectID
    noteCreated(id, for: ends[place].relationship.name)
    for (other, end) in ends.enumerated()
    where placeholder.isFound(by: end.relationship, end.key) && ids[other][key] == nil {
      ids[other][key] = id
    }
    return id
  }

  /// Counts an object that was created for a relationship.
  func noteCreated(_ id: ManagedObjectID, for relationship: String) {
    created.insert(id)
    createdCounts[relationship, default: 0] += 1
  }

  /// Lets later rows find an object by the keys that it has now.
  ///
  /// - Parameters:
  ///   - former: the object's values before; nil for a new one.
  ///   - isReplacing: whether the mode replaces objects: one whose key stays the same is a target only once it is replaced.
  ///   - found: called with each key that the object has got and no object had.
  func note(
    _ object: ManagedObject, formerly former: ContiguousArray<Value>?, isReplacing: Bool,
    found: (_ place: Int, _ key: Value) -> Void
  ) {
    for (place, end) in ends.enumerated() where object.entity.isKindOf(end.relationship.destinationEntity) {
      let old = former.map { end.key.key(of: $0) } ?? .null
      let new = end.key.key(of: object)
      if old == new, !isReplacing { continue }
      if !old.isNull, ids[place][old] == object.objectID { ids[place][old] = nil }
      guard !new.isNull, ids[place][new] == nil else { continue }
      ids[place][new] = object.objectID
      found(place, new)
    }
  }
}
