import ManagedObjects

/// The objects that the store has for a batch's keys: what upsert updates.
///
/// An object is found by the uniqueness constraint that its record names: one for all records of a CSV file, where JSON
/// records may differ.
struct ExistingObjects {
  /// Terms of one condition: SQLite takes a thousand.
  private static let terms = 200
  private static let list = 10_000

  private let constraints: [RecordMapping.Constraint]
  /// By the place of a constraint, those that the batch uses.
  private var objects: [Int: [UniqueKey: ManagedObject]]

  /// Fetches them, and what these to-many relationships of theirs hold. The context has no changes yet.
  init(
    _ entity: EntityDescription, _ constraints: [RecordMapping.Constraint], keys: [Int: Set<UniqueKey>],
    sets: [String] = [], in context: ManagedObjectContext
  ) throws {
    self.constraints = constraints
    objects = keys.mapValues { _ in [:] }
    for (place, keys) in keys {
      for predicate in Self.predicates(constraints[place].attributes, keys) {
        var request = FetchRequest<ManagedObject>(entityName: entity.name, predicate: predicate)
        request.relationshipKeyPathsForPrefetching = sets
        for object in try context.fetch(request) {
          let key = key(of: object, place)
          if keys.contains(key) { objects[place]?[key] = object }
        }
      }
    }
  }

  /// The objects of one constraint.
  func all() -> [ManagedObject] { objects.values.flatMap(\.values) }

  /// Whether objects are found by these attributes.
  func isKey(_ attributes: [String]) -> Bool {
    objects.keys.contains { Set(constraints[$0].attributes.map(\.name)) == Set(attributes) }
  }

  /// The object with that key, which isn't partial.
  func object(_ key: UniqueKey, _ place: Int) -> ManagedObject? { objects[place]?[key] }

  /// Takes note of an object's keys: of a new one, or of one whose keys have changed.
  mutating func note(_ object: ManagedObject, formerly old: ContiguousArray<Value>?) {
    for place in objects.keys {
      let attributes = constraints[place].attributes
      let new = key(of: object, place)
      if let old {
        let former = UniqueKey(attributes.map { old[$0.slot] })
        if former == new { continue }
        if objects[place]?[former] === object { objects[place]?[former] = nil }
      }
      if !new.isPartial { objects[place]?[new] = object }
    }
  }

  private func key(of object: ManagedObject, _ place: Int) -> UniqueKey {
    UniqueKey(constraints[place].attributes.map { object.value(at: $0.slot) })
  }

  /// Conditions that together find the keys and little else: a compound key by the values of the attribute that has
  /// fewest, each with the others' that occur with it. Looking for every value of each attribute alone could bring in
  /// the whole table.
  private static func predicates(_ attributes: [AttributeDescription], _ keys: Set<UniqueKey>) -> [FetchPredicate] {
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
