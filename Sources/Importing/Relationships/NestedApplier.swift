// Nested objects are applied record by record in two steps: first what a record's objects will be is planned and validated,
// and nothing is touched; then the plan is carried out. So a rejected record leaves no trace.
//
// An object with a key is found in the store or among those that earlier rows created, or is new. One without a key is the
// one that its owner has already: the only one of a to-one relationship, the one with the same values of a to-many
// relationship.

import ManagedObjects

/// Applies the nested objects of a batch to a context. One fetch for each entity and key of a batch.
final class NestedApplier {
  /// An entity, and the attribute that keys of its objects are of.
  private struct KeyPlace: Hashable {
    let entity: EntityDescription
    let attribute: String
  }

  /// The objects of a place by their keys.
  ///
  /// Tables stand in arrays and are changed in place, for each object: nothing else may hold a copy at that moment, such as a
  /// loop over them, or each change would copy thousands of entries.
  private struct ObjectTable {
    let entity: EntityDescription
    let attributes: [AttributeDescription]
    var objects: [UniqueKey: ManagedObject] = [:]

    /// Whether the objects of a row, which has these attributes' values, are in it.
    func isOf(_ row: NestedRow, _ attributes: [AttributeDescription]) -> Bool {
      entity === row.entity && self.attributes.elementsEqual(attributes, by: ===)
    }

    /// The slots of the key in an object of the entity or of one that inherits from it.
    func slots(of object: ManagedObject) -> [Int] {
      object.entity === entity ? attributes.map(\.slot) : attributes.compactMap { object.entity.slot(of: $0.name) }
    }
  }

  /// The IDs of a place's objects by their keys.
  private struct IDTable {
    let entity: EntityDescription
    let attribute: String
    var ids: [Value: ManagedObjectID]
  }

  /// What a nested object will become.
  final class Planned {
    let row: NestedRow
    /// nil for a new one, or one that another part of the record creates.
    let object: ManagedObject?
    let identity: (attributes: [AttributeDescription], key: UniqueKey)?
    fileprivate(set) var links: [(link: NestedLink, targets: [PlannedTarget])] = []
    fileprivate(set) var isChange = false

    init(_ row: NestedRow, _ object: ManagedObject?, _ identity: (attributes: [AttributeDescription], key: UniqueKey)?)
    {
      self.row = row
      self.object = object
      self.identity = identity
    }
  }

  enum PlannedTarget {
    case id(ManagedObjectID)
    case object(Planned)
  }

  /// Why a record is rejected.
  struct Problem: Error {
    let path: String
    let code: String
    let message: String
  }

  private let context: ManagedObjectContext
  private let resolver: ReferenceResolver
  private var members: [ManagedObject] = []
  private var tables: [ObjectTable] = []
  private var keyTables: [IDTable] = []
  /// New objects, with the relationship that they were created for.
  private var created: [(object: ManagedObject, relationship: String)] = []
  /// Every nested object of the records, changed or not.
  private(set) var carried: [ManagedObject] = []
  /// Objects created or changed since they were last taken.
  private var touched: [(object: ManagedObject, former: ContiguousArray<Value>?)] = []

  init(_ context: ManagedObjectContext, _ resolver: ReferenceResolver) {
    self.context = context
    self.resolver = resolver
  }

  // MARK: Finding

  /// Finds the store's objects for these links.
  func find(_ links: some Sequence<NestedLink>) throws {
    var wanted: [Set<UniqueKey>] = []
    var keys: [KeyPlace: (end: NestedEnd, keys: Set<Value>)] = [:]
    var inner: [EntityDescription: Set<String>] = [:]
    func collect(_ link: NestedLink) {
      for target in link.targets {
        switch target {
        case .key(let value):
          guard let key = link.end.key, !value.isNull else { continue }
          let place = KeyPlace(entity: link.relationship.destinationEntity, attribute: key.name)
          keys[place, default: (link.end, [])].keys.insert(value)
        case .object(let row):
          if let identity = row.identity {
            let place = table(of: row, identity.attributes, &wanted)
            wanted[place].insert(identity.key)
          }
          for link in row.links where link.hasObjects { inner[row.entity, default: []].insert(link.relationship.name) }
          row.links.forEach(collect)
        }
      }
    }
    links.forEach(collect)
    for (place, keys) in wanted.enumerated() {
      let entity = tables[place].entity
      let found = try ExistingObjects(
        entity, [.init(attributes: tables[place].attributes, columns: [])], keys: [0: keys],
        sets: (inner[entity] ?? []).sorted(), in: context)
      retain(inner[entity] ?? [], of: found.all())
      for key in keys { tables[place].objects[key] = found.object(key, 0) }
    }
    for (place, what) in keys {
      guard let key = what.end.key else { continue }
      let ids = try resolver.find(what.end.relationship, by: ReferenceKey(key), keys: what.keys)
      keyTables.append(IDTable(entity: place.entity, attribute: place.attribute, ids: ids))
    }
  }

  /// The place of the table for a row's object, with a set of wanted keys beside it.
  private func table(
    of row: NestedRow, _ attributes: [AttributeDescription], _ wanted: inout [Set<UniqueKey>]
  ) -> Int {
    if let place = tables.firstIndex(where: { $0.isOf(row, attributes) }) { return place }
    tables.append(ObjectTable(entity: row.entity, attributes: attributes))
    wanted.append([])
    return tables.count - 1
  }

  /// Retains what relationships of objects hold. It was fetched together, so that it isn't read again one by one.
  func retain(_ relationships: Set<String>, of owners: [ManagedObject]) {
    for owner in owners {
      for name in relationships {
        guard let relationship = owner.entity.propertiesByName[name] as? RelationshipDescription else { continue }
        members += owner.held(by: relationship).map { context.object(with: $0) }
      }
    }
  }

  /// Notes an object that is new or whose values have changed.
  func note(_ object: ManagedObject, formerly old: ContiguousArray<Value>?) {
    for place in tables.indices where object.entity.isKindOf(tables[place].entity) {
      let slots = tables[place].slots(of: object)
      let key = UniqueKey(slots.map { object.value(at: $0) })
      if let old {
        let former = UniqueKey(slots.map { old[$0] })
        if former != key, tables[place].objects[former] === object { tables[place].objects[former] = nil }
      }
      if !key.isPartial { tables[place].objects[key] = object }
    }
    for place in keyTables.indices where object.entity.isKindOf(keyTables[place].entity) {
      guard let slot = object.entity.slot(of: keyTables[place].attribute) else { continue }
      let key = object.value(at: slot)
      if let old, old[slot] != key, keyTables[place].ids[old[slot]] == object.objectID {
        keyTables[place].ids[old[slot]] = nil
      }
      if !key.isNull, keyTables[place].ids[key] == nil { keyTables[place].ids[key] = object.objectID }
    }
  }

  /// The object that a row is about; nil if there is none yet.
  private func object(
    of row: NestedRow, _ identity: (attributes: [AttributeDescription], key: UniqueKey)
  ) -> ManagedObject? {
    tables.first { $0.isOf(row, identity.attributes) }?.objects[identity.key]
  }

  // MARK: Planning

  /// What a relationship of a record's object will hold.
  ///
  /// - Parameters:
  ///   - owner: the object; nil if it is new.
  ///   - path: the place of the relationship in the record.
  func plan(_ link: NestedLink, of owner: ManagedObject?, at path: String) throws -> [PlannedTarget] {
    var held: [ManagedObject] = []
    if let owner, link.hasObjects {
      held = try owner.held(by: link.relationship).map { try context.existingObject(with: $0) }
    }
    var taken: Set<ObjectIdentifier> = []
    return try link.targets.compactMap { target in
      switch target {
      case .key(let key):
        if key.isNull { return nil }
        guard let end = link.end.key else { return nil }
        let entity = link.relationship.destinationEntity
        let table = keyTables.first { $0.entity === entity && $0.attribute == end.name }
        guard let id = table?.ids[key] else {
          throw Problem(
            path: path, code: "no_such_object",
            message: "there is no \(entity.name) with \(end.name) “\(key.plainText.shown)”")
        }
        return .id(id)
      case .object(let row):
        return .object(try plan(row, link, held: held, &taken, at: path))
      }
    }
  }

  private func plan(
    _ row: NestedRow, _ link: NestedLink, held: [ManagedObject], _ taken: inout Set<ObjectIdentifier>, at path: String
  ) throws -> Planned {
    let identity = row.identity
    let object: ManagedObject?
    if let identity {
      object = self.object(of: row, identity)
    } else if link.relationship.isToMany {
      object = held.first { held in
        !taken.contains(ObjectIdentifier(held)) && row.given.allSatisfy { held.value(at: $0) == row.values[$0] }
      }
    } else {
      object = held.first
    }
    if let object { taken.insert(ObjectIdentifier(object)) }
    let planned = Planned(row, object, identity)
    var values = object?.slots ?? row.values
    for slot in row.given where values[slot] != row.values[slot] {
      values[slot] = row.values[slot]
      planned.isChange = true
    }
    if object == nil { planned.isChange = true }
    for inner in row.links {
      let relationship = inner.relationship
      let targets = try plan(inner, of: object, at: "\(path).\(relationship.name)")
      planned.links.append((inner, targets))
      if Self.isChange(targets, of: object, relationship) { planned.isChange = true }
      // Only whether it will be empty is known yet.
      values[relationship.slot] = targets.isEmpty ? relationship.emptyValue : .unresolved
    }
    if let inverse = link.relationship.inverseRelationship, !inverse.isToMany { values[inverse.slot] = .unresolved }
    guard planned.isChange else { return planned }
    var failures: [ValidationFailure] = []
    (object?.entity ?? row.entity).validationRules.check(values, of: object?.objectID, into: &failures)
    if let failure = failures.first {
      throw Problem(path: "\(path).\(failure.property)", code: failure.code, message: failure.description)
    }
    return planned
  }

  /// Whether a relationship of an object would hold other objects than it does, or an object that it holds would change.
  static func isChange(
    _ targets: [PlannedTarget], of object: ManagedObject?, _ relationship: RelationshipDescription
  ) -> Bool {
    var ids: [ManagedObjectID] = []
    for target in targets {
      switch target {
      case .id(let id): ids.append(id)
      case .object(let planned):
        guard let known = planned.object, !planned.isChange else { return true }
        ids.append(known.objectID)
      }
    }
    guard let object else { return !ids.isEmpty }
    let held = object.held(by: relationship)
    return relationship.isOrdered ? held != ids : Set(held) != Set(ids)
  }

  // MARK: Carrying out

  /// Sets a relationship of an object as planned.
  func hold(_ targets: [PlannedTarget], _ link: NestedLink, _ owner: ManagedObject) throws {
    let relationship = link.relationship
    let former = owner.held(by: relationship)
    var seen: Set<ManagedObjectID> = []
    var ids: [ManagedObjectID] = []
    for target in targets {
      let id: ManagedObjectID
      switch target {
      case .id(let known): id = known
      case .object(let planned): id = try carryOut(planned, relationship).objectID
      }
      if seen.insert(id).inserted { ids.append(id) }
    }
    if relationship.isToMany {
      owner.hold(relationship, ids)
    } else {
      owner.point(relationship, to: ids.first)
    }
    guard relationship.deleteRule == .cascade else { return }
    // An object that belongs to its owner alone, and has no key to find it by, is deleted when it loses its place there.
    for id in former where !seen.contains(id) && relationship.destinationEntity.uniquenessConstraints.isEmpty {
      context.delete(context.object(with: id))
    }
  }

  /// The objects created since the last call, with the relationship that each was created for.
  func takeCreated() -> [(object: ManagedObject, relationship: String)] {
    defer { created.removeAll() }
    return created
  }

  /// The objects created or changed since the last call, with the values that they had before.
  func takeTouched() -> [(object: ManagedObject, former: ContiguousArray<Value>?)] {
    defer { touched.removeAll() }
    return touched
  }

  private func carryOut(_ planned: Planned, _ relationship: RelationshipDescription) throws -> ManagedObject {
    let row = planned.row
    var object = planned.object
    if object == nil, let identity = planned.identity {
      object = self.object(of: row, identity)
    }
    let former = object?.slots
    let target: ManagedObject
    if let object {
      target = object
      for slot in row.given { target.setValue(row.values[slot], at: slot) }
    } else {
      target = try context.insert(row.entity, values: row.values)
      created.append((target, relationship.name))
    }
    carried.append(target)
    if planned.isChange {
      note(target, formerly: former)
      touched.append((target, former))
    }
    for (link, targets) in planned.links { try hold(targets, link, target) }
    return target
  }
}

extension ManagedObject {
  /// The objects that a to-one or to-many relationship holds now.
  func held(by relationship: RelationshipDescription) -> [ManagedObjectID] {
    if relationship.isToMany { return resolved(relationship).relatedIDs }
    if case .object(let id) = value(at: relationship.slot) { return [id] }
    return []
  }
}
