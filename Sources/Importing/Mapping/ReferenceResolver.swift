import ManagedObjects

/// Finds the objects that references lead to, by key: one fetch for each batch and relationship, and a bounded cache of keys
/// found before.
final class ReferenceResolver {
  /// How many keys of each relationship are cached.
  static let cacheSize = 150_000
  private let cacheSize: Int
  private let context: ManagedObjectContext
  /// Which objects still exist, in an import that replaces them.
  private var seen: SeenObjects?
  private var known: [RelationshipDescription: [Value: ManagedObjectID]] = [:]
  /// All objects of small destinations, by key; empty for the others that many keys were looked for in.
  private var all: [RelationshipDescription: [Value: ManagedObjectID]] = [:]
  /// The objects of numbered keys.
  private var numbered: [RelationshipDescription: NumberedObjects] = [:]

  /// Objects by the numbers of their keys, as far as they are known.
  private struct NumberedObjects {
    let generation: Int
    var ids: [ManagedObjectID?] = []
  }

  init(context: ManagedObjectContext, seen: SeenObjects? = nil, cacheSize: Int = ReferenceResolver.cacheSize) {
    self.context = context
    self.seen = seen
    self.cacheSize = cacheSize
  }

  /// Finds every object of the store from now on, since none will be deleted.
  func showAll() { seen = nil }

  /// The store's objects with these keys. If several have the same key, the oldest.
  func find(
    _ relationship: RelationshipDescription, by key: ReferenceKey, keys: Set<Value>
  ) throws -> [Value: ManagedObjectID] {
    var (found, missing) = cached(relationship, keys)
    if missing.isEmpty { return found }
    let new = try fetch(relationship, by: key, missing)
    cache(new, of: relationship)
    found.merge(new) { $1 }
    return found
  }

  /// Like ``find(_:by:keys:)``, for numbered keys most of which repeat: calls `body` with the place of each key that isn't null,
  /// and its object.
  /// - Returns: the places of the keys that have no object.
  func findEach(
    _ relationship: RelationshipDescription, by key: ReferenceKey, of keys: CodedKeys,
    _ body: (Int, ManagedObjectID) -> Void
  ) throws -> [Int] {
    var objects = numbered.removeValue(forKey: relationship) ?? NumberedObjects(generation: keys.generation)
    if objects.generation != keys.generation { objects = NumberedObjects(generation: keys.generation) }
    defer { numbered[relationship] = objects }
    func take(_ place: Int, _ id: ManagedObjectID) {
      body(place, id)
      let code = Int(keys.codes[place])
      if code < 0 { return }
      while objects.ids.count <= code { objects.ids.append(nil) }
      objects.ids[code] = id
    }
    var missing: [Int] = []
    for place in keys.codes.indices {
      let code = Int(keys.codes[place])
      if code == KeyCodes.null { continue }
      if objects.ids.indices.contains(code), let id = objects.ids[code] {
        body(place, id)
      } else {
        missing.append(place)
      }
    }
    if all[relationship] == nil, missing.count >= 1000 {
      all[relationship] = try fetchAll(relationship, by: key, missing.count)
    }
    if let all = all[relationship], !all.isEmpty {
      missing.removeAll { place in
        guard let id = all[keys.keys[place]] else { return false }
        take(place, id)
        return true
      }
      // Once most have numbers, the rest is looked up, and the memory is freed.
      if objects.ids.count >= all.count / 8 * 7 { self.all[relationship] = [:] }
    }
    if missing.isEmpty { return [] }
    let new = try fetch(relationship, by: key, Array(Set(missing.lazy.map { keys.keys[$0] })))
    missing.removeAll { place in
      guard let id = new[keys.keys[place]] else { return false }
      take(place, id)
      return true
    }
    return missing
  }

  /// All objects of a relationship's destination, by key; empty if looking up that many keys costs less, or if they are too
  /// many to remember.
  ///
  /// Finding a key in an index takes some ten times as long as reading the next row, and further keys will be looked for.
  private func fetchAll(
    _ relationship: RelationshipDescription, by key: ReferenceKey, _ count: Int
  ) throws -> [Value: ManagedObjectID] {
    var request = FetchRequest<ManagedObject>(
      entityName: relationship.destinationEntity.name, includesPendingChanges: false)
    let total = try context.count(for: request)
    guard total <= 16 * count, total <= cacheSize else { return [:] }
    var all: [Value: ManagedObjectID] = [:]
    all.reserveCapacity(total)
    // In parts, since rows take more memory than keys, and in the table's order, which costs least. An object that a concurrent
    // change moves between them is looked up later.
    request.fetchLimit = 20_000
    while request.fetchOffset < total {
      try fetch(request, by: key, into: &all)
      request.fetchOffset += request.fetchLimit
    }
    return all
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
    _ relationship: RelationshipDescription, by key: ReferenceKey, _ missing: [Value]
  ) throws -> [Value: ManagedObjectID] {
    var new: [Value: ManagedObjectID] = [:]
    for predicate in missing.parts(of: 10_000).flatMap(key.predicates) {
      let request = FetchRequest<ManagedObject>(
        entityName: relationship.destinationEntity.name, predicate: predicate, includesPendingChanges: false)
      try fetch(request, by: key, into: &new)
    }
    return new
  }

  /// Adds the objects that a request finds, by their keys. Of several with one key, the oldest stays.
  private func fetch(
    _ request: FetchRequest<ManagedObject>, by key: ReferenceKey, into objects: inout [Value: ManagedObjectID]
  ) throws {
    let rows = try context.rows(for: request, slots: Set(key.attributes.map(\.slot)))
    let hidden = try seen?.hidden(among: rows.map(\.id)) ?? []
    for row in rows where hidden.isEmpty || !hidden.contains(row.id) {
      let id = row.id
      // One look-up for a key that is new, as nearly all are.
      guard let other = objects.updateValue(id, forKey: key.key(of: row.values)) else { continue }
      if other.number < id.number { objects[key.key(of: row.values)] = other }
    }
  }

  /// The objects themselves, for a to-many relationship whose inverse is to-one: each of them will be changed.
  func members(
    _ relationship: RelationshipDescription, by key: ReferenceKey, keys: Set<Value>
  ) throws -> [ManagedObject] {
    guard relationship.isToMany, !relationship.isManyToMany else { return [] }
    return try Array(keys).parts(of: 10_000).flatMap(key.predicates).flatMap { predicate in
      try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: relationship.destinationEntity.name, predicate: predicate, includesPendingChanges: false))
    }
  }

  /// Empties the cache: rows may have been changed or deleted.
  func forget() {
    known.removeAll()
    all.removeAll()
    numbered.removeAll()
  }

  private func cache(_ new: [Value: ManagedObjectID], of relationship: RelationshipDescription) {
    if (known[relationship]?.count ?? 0) + new.count > cacheSize { known[relationship] = nil }
    known[relationship, default: [:]].merge(new.lazy.filter { !$0.key.isLongKey }.map { ($0.key, $0.value) }) { $1 }
  }
}

extension Array {
  /// Its parts of at most `size` elements.
  func parts(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
