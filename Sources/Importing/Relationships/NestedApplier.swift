// Nested objects are applied record by record in two steps: first what a record's objects will be is planned and validated,
// and nothing is touched; then the plan is carried out. So a rejected record leaves no trace.
//
// An object with a key is found in the store or among those that earlier rows created, or is new. One without a key is the
// one that its owner has already: the only one of a to-one relationship, the one with the same values of a to-many
// relationship.

import ManagedObjects

/// Applies the nested objects of a batch to a context. One fetch for each entity and key of a batch.
final class NestedApplier {
  /// An entity, and attributes that identify its objects.
  private struct Place: Hashable {
    let entity: EntityDescription
    let attributes: [String]
  }

  /// An entity, and the attribute that keys of its objects are of.
  private struct KeyPlace: Hashable {
    let entity: EntityDescription
    let attribute: String
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
  private var objects: [Place: [UniqueKey: ManagedObject]] = [:]
  private var keyed: [KeyPlace: [Value: ManagedObjectID]] = [:]
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
    var identities: [Place: (attributes: [AttributeDescription], keys: Set<UniqueKey>)] = [:]
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
          if let identity = row.identity(link.end.key) {
            let place = Place(entity: row.entity, attributes: identity.attributes.map(\.name))
            identities[place, default: (identity.attributes, [])].keys.insert(identity.key)
          }
          for link in row.links where link.hasObjects { inner[row.entity, default: []].insert(link.relationship.name) }
          row.links.forEach(collect)
        }
      }
    }
    links.forEach(collect)
    for (place, what) in identities {
      let found = try ExistingObjects(
        place.entity, [.init(attributes: what.attributes, columns: [])], keys: [0: what.keys],
        sets: (inner[place.entity] ?? []).sorted(), in: context)
      retain(inner[place.entity] ?? [], of: found.all())
      objects[place] = [:]
      for key in what.keys { objects[place]?[key] = found.object(key, 0) }
    }
    for (place, what) in keys {
      guard let key = what.end.key else { continue }
      keyed[place] = try resolver.find(what.end.relationship, by: key, keys: what.keys)
    }
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
    for place in objects.keys where object.entity.isKindOf(place.entity) {
      let slots = place.attributes.compactMap { object.entity.slot(of: $0) }
      if let old {
        let former = UniqueKey(slots.map { old[$0] })
        if objects[place]?[former] === object { objects[place]?[former] = nil }
      }
      let key = UniqueKey(slots.map { object.value(at: $0) })
      if !key.isPartial { objects[place]?[key] = object }
    }
    for place in keyed.keys where object.entity.isKindOf(place.entity) {
      guard let slot = object.entity.slot(of: place.attribute) else { continue }
      if let old, keyed[place]?[old[slot]] == object.objectID { keyed[place]?[old[slot]] = nil }
      let key = object.value(at: slot)
      if !key.isNull, keyed[place]?[key] == nil { keyed[place]?[key] = object.objectID }
    }
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
        let place = KeyPlace(entity: link.relationship.destinationEntity, attribute: end.name)
        guard let id = keyed[place]?[key] else {
          throw Problem(
            path: path, code: "no_such_object",
            message: "there is no \(place.entity.name) with \(place.attribute) “\(key.plainText.shown)”")
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
    let identity = row.identity(link.end.key)
    let object: ManagedObject?
    if let identity {
      object = objects[Place(entity: row.entity, attributes: identity.attributes.map(\.name))]?[identity.key]
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
      object = objects[Place(entity: row.entity, attributes: identity.attributes.map(\.name))]?[identity.key]
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
