import ManagedObjects

/// Finds the objects that references point to, by key: one fetch a batch and relationship, and a bounded memory of keys
/// found before.
final class ReferenceResolver {
  private let remembered: Int
  private let context: ManagedObjectContext
  /// Which objects there still are, in an import that replaces them.
  var seen: SeenObjects?
  private var known: [RelationshipDescription: [Value: ManagedObjectID]] = [:]

  /// - Parameter remembered: keys that are kept of each relationship.
  init(context: ManagedObjectContext, remembered: Int = 150_000) {
    self.context = context
    self.remembered = remembered
  }

  /// The objects that the store has of the keys asked for. Of several with the same key, the one that came first.
  func find(
    _ relationship: RelationshipDescription, by attribute: AttributeDescription, keys: Set<Value>
  ) throws -> [Value: ManagedObjectID] {
    var (found, missing) = remembered(relationship, keys)
    if missing.isEmpty { return found }
    let new = try look(relationship, by: attribute, missing)
    remember(new, of: relationship)
    found.merge(new) { $1 }
    return found
  }

  /// As ``find(_:by:keys:)``, for keys of which most come again and are remembered: calls `body` with the place of each that
  /// isn't null, and its object.
  /// - Returns: false as soon as a key has no object.
  func findEach(
    _ relationship: RelationshipDescription, by attribute: AttributeDescription, of keys: ArraySlice<Value>,
    _ body: (Int, ManagedObjectID) -> Void
  ) throws -> Bool {
    let missing = unknown(relationship, keys, body)
    if missing.isEmpty { return true }
    let new = try look(relationship, by: attribute, Array(Set(missing.lazy.map { keys[$0] })))
    for place in missing {
      guard let id = new[keys[place]] else { return false }
      body(place, id)
    }
    remember(new, of: relationship)
    return true
  }

  /// The places of the keys that aren't remembered; calls `body` with the others.
  private func unknown(
    _ relationship: RelationshipDescription, _ keys: ArraySlice<Value>, _ body: (Int, ManagedObjectID) -> Void
  ) -> [Int] {
    let known = self.known[relationship] ?? [:]
    var unknown: [Int] = []
    for place in keys.indices where !keys[place].isNull {
      if let id = known[keys[place]] { body(place, id) } else { unknown.append(place) }
    }
    return unknown
  }

  /// What is remembered of keys, and the others.
  private func remembered(
    _ relationship: RelationshipDescription, _ keys: Set<Value>
  ) -> (found: [Value: ManagedObjectID], missing: [Value]) {
    let known = self.known[relationship] ?? [:]
    var found: [Value: ManagedObjectID] = [:]
    var missing: [Value] = []
    for key in keys {
      if let id = known[key] { found[key] = id } else { missing.append(key) }
    }
    return (found, missing)
  }

  /// The objects that the store has of keys that aren't remembered.
  private func look(
    _ relationship: RelationshipDescription, by attribute: AttributeDescription, _ missing: [Value]
  ) throws -> [Value: ManagedObjectID] {
    var new: [Value: ManagedObjectID] = [:]
    for part in missing.parts(of: 10_000) {
      let request = FetchRequest<ManagedObject>(
        entityName: relationship.destinationEntity.name, predicate: .isIn(attribute.name, Array(part)),
        includesPendingChanges: false)
      let rows = try context.rows(for: request)
      let hidden = try seen?.hidden(among: rows.map(\.id)) ?? []
      for row in rows where !hidden.contains(row.id) {
        let key = row.values[attribute.slot]
        if let other = new[key], other.number < row.id.number { continue }
        new[key] = row.id
      }
    }
    return new
  }

  /// The same objects themselves, of a to-many relationship whose objects say by a to-one relationship where they belong:
  /// each will be changed.
  func members(
    _ relationship: RelationshipDescription, by attribute: AttributeDescription, keys: Set<Value>
  ) throws -> [ManagedObject] {
    guard relationship.isToMany, !relationship.isManyToMany else { return [] }
    return try Array(keys).parts(of: 10_000).flatMap { part in
      try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: relationship.destinationEntity.name, predicate: .isIn(attribute.name, Array(part)),
          includesPendingChanges: false))
    }
  }

  /// Forgets what was found: rows may have been changed or deleted since.
  func forget() { known.removeAll() }

  private func remember(_ new: [Value: ManagedObjectID], of relationship: RelationshipDescription) {
    if (known[relationship]?.count ?? 0) + new.count > remembered { known[relationship] = nil }
    known[relationship, default: [:]].merge(new) { $1 }
  }
}

extension Array {
  /// Its parts of at most `size` elements.
  func parts(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
