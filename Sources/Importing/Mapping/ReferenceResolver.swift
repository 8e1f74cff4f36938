import ManagedObjects

/// Finds the objects that references lead to, by key: one fetch for each batch and relationship, and a bounded cache of keys
/// found before.
final class ReferenceResolver {
  /// How many keys of each relationship are cached.
  private let cacheSize: Int
  private let context: ManagedObjectContext
  /// Which objects still exist, in an import that replaces them.
  private var seen: SeenObjects?
  private var known: [RelationshipDescription: [Value: ManagedObjectID]] = [:]

  init(context: ManagedObjectContext, seen: SeenObjects? = nil, cacheSize: Int = 150_000) {
    self.context = context
    self.seen = seen
    self.cacheSize = cacheSize
  }

  /// Finds every object of the store from now on, since none will be deleted.
  func showAll() { seen = nil }

  /// The store's objects with these keys. If several have the same key, the oldest.
  func find(
    _ relationship: RelationshipDescription, by attribute: AttributeDescription, keys: Set<Value>
  ) throws -> [Value: ManagedObjectID] {
    var (found, missing) = cached(relationship, keys)
    if missing.isEmpty { return found }
    let new = try fetch(relationship, by: attribute, missing)
    cache(new, of: relationship)
    found.merge(new) { $1 }
    return found
  }

  /// Like ``find(_:by:keys:)``, for keys most of which repeat and are cached: calls `body` with the place of each key that
  /// isn't null, and its object.
  /// - Returns: false as soon as a key has no object.
  func findEach(
    _ relationship: RelationshipDescription, by attribute: AttributeDescription, of keys: ArraySlice<Value>,
    _ body: (Int, ManagedObjectID) -> Void
  ) throws -> Bool {
    let missing = unknown(relationship, keys, body)
    if missing.isEmpty { return true }
    let new = try fetch(relationship, by: attribute, Array(Set(missing.lazy.map { keys[$0] })))
    for place in missing {
      guard let id = new[keys[place]] else { return false }
      body(place, id)
    }
    cache(new, of: relationship)
    return true
  }

  /// The places of the keys that aren't cached; calls `body` with the others.
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

  /// The cached objects of keys, and the keys that aren't cached.
  private func cached(
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

  /// The store's objects with keys that aren't cached.
  private func fetch(
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

  /// The objects themselves, for a to-many relationship whose inverse is to-one: each of them will be changed.
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

  /// Empties the cache: rows may have been changed or deleted.
  func forget() { known.removeAll() }

  private func cache(_ new: [Value: ManagedObjectID], of relationship: RelationshipDescription) {
    if (known[relationship]?.count ?? 0) + new.count > cacheSize { known[relationship] = nil }
    known[relationship, default: [:]].merge(new) { $1 }
  }
}

extension Array {
  /// Its parts of at most `size` elements.
  func parts(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
