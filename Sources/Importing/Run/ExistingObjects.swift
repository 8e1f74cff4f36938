import ManagedObjects

/// The store's objects with a batch's keys: the ones that upsert updates.
///
/// An object is found by the uniqueness constraint whose attributes its record has: the same for all records of a CSV file,
/// while JSON records may differ.
struct ExistingObjects {
  /// How many objects a batch may find beyond one for each key of the recipe.
  static let surplus = 100_000

  private let constraints: [RecordMapping.Constraint]
  /// The places of the constraints that the batch uses.
  private let places: [Int]
  /// By the place of a constraint. Changed in place, for each record: nothing else may hold a copy at that moment, such as a
  /// loop over them, or each change would copy thousands of entries.
  private var objects: [[UniqueKey: ManagedObject]]
  /// Where several objects have a key of the recipe, which the store doesn't hold unique: all of them.
  private var ambiguous: [UniqueKey: [ManagedObject]] = [:]

  /// Fetches the objects, and what these to-many relationships of theirs hold. The context must have no changes yet.
  ///
  /// - Parameter surplus: how many objects more than keys the first constraint may find, where that is the recipe's key:
  ///   the store doesn't hold it unique, and it could lead to the whole table.
  /// - Throws: ``MappingError/unselectiveKey(entity:key:keys:)`` if there are more.
  init(
    _ entity: EntityDescription, _ constraints: [RecordMapping.Constraint], keys: [Int: Set<UniqueKey>],
    sets: [String] = [], surplus: Int? = nil, in context: ManagedObjectContext
  ) throws {
    self.constraints = constraints
    places = keys.keys.sorted()
    objects = Array(repeating: [:], count: constraints.count)
    for (place, keys) in keys {
      let attributes = constraints[place].attributes
      var left = place == 0 ? surplus.map { keys.count + $0 } : nil
      for predicate in UniqueKey.predicates(attributes, keys) {
        var request = FetchRequest<ManagedObject>(entityName: entity.name, predicate: predicate)
        request.relationshipKeyPathsForPrefetching = sets
        if let left { request.fetchLimit = left + 1 }
        let found = try context.fetch(request)
        if let most = left {
          guard found.count <= most else {
            throw MappingError.unselectiveKey(entity: entity.name, key: attributes.map(\.name), keys: keys.count)
          }
          left = most - found.count
        }
        for object in found {
          let key = key(of: object, place)
          guard keys.contains(key) else { continue }
          if let other = objects[place][key], other !== object { ambiguous[key, default: [other]].append(object) }
          objects[place][key] = object
        }
      }
    }
  }

  /// The objects of one constraint.
  func all() -> [ManagedObject] { objects.flatMap(\.values) }

  /// Whether objects are found by these attributes.
  func isKey(_ attributes: [String]) -> Bool {
    places.contains { Set(constraints[$0].attributes.map(\.name)) == Set(attributes) }
  }

  /// The object with that key, which isn't partial.
  func object(_ key: UniqueKey, _ place: Int) -> ManagedObject? { objects[place][key] }

  /// Whether several objects have a key by which a record finds its object.
  func isAmbiguous(_ key: UniqueKey) -> Bool { !ambiguous.isEmpty && ambiguous[key] != nil }

  /// All objects with that key.
  func objects(_ key: UniqueKey, _ place: Int) -> [ManagedObject] {
    ambiguous[key] ?? objects[place][key].map { [$0] } ?? []
  }

  /// Notes the keys of a new object, or of one whose keys have changed.
  mutating func note(_ object: ManagedObject, formerly old: ContiguousArray<Value>?) {
    for place in places {
      let attributes = constraints[place].attributes
      let new = key(of: object, place)
      if let old {
        let former = UniqueKey(attributes.map { old[$0.slot] })
        if former == new { continue }
        if objects[place][former] === object { objects[place][former] = nil }
      }
      if !new.isPartial { objects[place][new] = object }
    }
  }

  private func key(of object: ManagedObject, _ place: Int) -> UniqueKey {
    UniqueKey(constraints[place].attributes.map { object.value(at: $0.slot) })
  }
}

/// The values of a uniqueness constraint's attributes in one row, compared as a store compares them.
struct UniqueKey: Hashable {
  /// Terms of one condition: stores limit how deep an expression may be, and a thousand terms is a common limit.
  private static let terms = 200
  private static let list = 10_000
  let values: [Value]

  init(_ values: [Value]) { self.values = values }

  /// Whether a part is missing. Such a key matches nothing, as in SQL.
  var isPartial: Bool { values.contains(.null) }

  /// Conditions that together find the keys and little else: a compound key by the values of the attribute with the fewest,
  /// each with the values of the others that occur with it. Fetching by every value of each attribute alone could read the
  /// whole table.
  static func predicates(_ attributes: [AttributeDescription], _ keys: Set<UniqueKey>) -> [FetchPredicate] {
    if attributes.count == 1 {
      return Array(keys.map { $0.values[0] }).parts(of: list).map { .isIn(attributes[0].name, Array($0)) }
    }
    let distinct = attributes.indices.map { part in Set(keys.map { $0.values[part] }).count }
    let lead = attributes.indices.min { distinct[$0] < distinct[$1] } ?? 0
    let groups = Dictionary(grouping: keys) { $0.values[lead] }
    let conditions = groups.flatMap { value, keys in
      keys.parts(of: list).map { part in
        FetchPredicate.and(
          attributes.indices.map { place in
            place == lead
              ? .equal(attributes[place].name, value)
              : .isIn(attributes[place].name, Array(Set(part.map { $0.values[place] })))
          })
      }
    }
    return conditions.parts(of: terms).map { $0.count == 1 ? $0[$0.startIndex] : .or(Array($0)) }
  }
}
