// One import of data into a context. Before a batch of records is imported, the keys of its objects and their related objects
// are collected, and one fetch for each key attribute finds all of them. Then objects are found in a table. New objects are
// added to it, so that a second record with the same key finds them.

public import ManagedObjects

/// Imports data by the rules of the model's `userInfo` (see ``ImportKeys``). Used on its context's queue.
final class MagicalImport {
  /// A key of the table.
  private struct Place: Hashable {
    let entity: EntityDescription
    let attribute: AttributeDescription
  }

  private let context: ManagedObjectContext
  private let conversion = ImportConversion()
  private var keys: [EntityDescription: ImportKeys] = [:]
  /// By attribute and value: the object, or nil when there is none.
  private var known: [Place: [Value: ManagedObject?]] = [:]
  /// The places of `known`. A loop over its own keys would hold a copy of it, so that each change copied thousands of entries.
  private var places: [Place] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Imports records in batches. Returns their objects, without those that refused the import.
  func importRecords(
    _ records: [ImportedValue], into entity: EntityDescription, batchSize: Int
  ) throws -> [ManagedObject] {
    var objects: [ManagedObject] = []
    for start in stride(from: 0, to: records.count, by: max(1, batchSize)) {
      let batch = records[start..<min(records.count, start + max(1, batchSize))]
      known.removeAll()
      places.removeAll()
      try lookUp(batch, of: entity)
      for record in batch {
        if let object = try importRecord(record, into: entity, by: keys(of: entity).relatedBy) {
          objects.append(object)
        }
      }
    }
    return objects
  }

  /// Imports into an existing object.
  func importValues(_ data: ImportedValue, into object: ManagedObject) throws -> Bool {
    try lookUpRelated([data], of: object.entity)
    return try apply(data, to: object)
  }

  private func keys(of entity: EntityDescription) -> ImportKeys {
    if let known = keys[entity] { return known }
    let new = ImportKeys(entity)
    keys[entity] = new
    return new
  }

  // MARK: Looking up

  private func lookUp(_ records: some Sequence<ImportedValue>, of entity: EntityDescription) throws {
    var wanted: [Place: Set<Value>] = [:]
    for record in records { try collect(record, of: entity, by: keys(of: entity).relatedBy, into: &wanted) }
    try fetch(wanted)
  }

  private func lookUpRelated(_ records: [ImportedValue], of entity: EntityDescription) throws {
    var wanted: [Place: Set<Value>] = [:]
    for record in records { try collectRelated(record, of: entity, into: &wanted) }
    try fetch(wanted)
  }

  private func collect(
    _ data: ImportedValue, of entity: EntityDescription, by key: ImportKeys.Attribute?,
    into wanted: inout [Place: Set<Value>]
  ) throws {
    if let key, let value = try identity(data, key) {
      wanted[Place(entity: entity, attribute: key.attribute), default: []].insert(value)
    }
    if case .object = data { try collectRelated(data, of: entity, into: &wanted) }
  }

  private func collectRelated(
    _ data: ImportedValue, of entity: EntityDescription, into wanted: inout [Place: Set<Value>]
  ) throws {
    for key in keys(of: entity).relationships {
      for element in key.lookup(data)?.elements ?? [] {
        try collect(element, of: key.relationship.destinationEntity, by: key.relatedBy, into: &wanted)
      }
    }
  }

  private func fetch(_ wanted: [Place: Set<Value>]) throws {
    for (place, values) in wanted {
      var found: [Value: ManagedObject?] = [:]
      for value in values { found[value] = .some(nil) }
      let request = FetchRequest<ManagedObject>(
        entityName: place.entity.name, predicate: .isIn(place.attribute.name, Array(values)))
      for object in try context.fetch(request) {
        let value = object.value(at: place.attribute.slot)
        if case .some(nil) = found[value] { found[value] = object }
      }
      if known.updateValue(found, forKey: place) == nil { places.append(place) }
    }
  }

  /// The value that identifies an object: the data itself if it isn't an object with keys. nil identifies nothing.
  private func identity(_ data: ImportedValue, _ key: ImportKeys.Attribute) throws -> Value? {
    let found: ImportedValue?
    if case .object = data { found = key.lookup(data) } else { found = data }
    guard let found, !found.isNull else { return nil }
    return try conversion.value(found, for: key.attribute)
  }

  // MARK: Importing

  private func importRecord(
    _ data: ImportedValue, into entity: EntityDescription, by key: ImportKeys.Attribute?
  ) throws -> ManagedObject? {
    let identity = try key.flatMap { try self.identity(data, $0) }
    if let key, let identity, let object = known[Place(entity: entity, attribute: key.attribute)]?[identity] ?? nil {
      if case .object = data { _ = try apply(data, to: object) }
      return object
    }
    if case .object = data {
      let object = context.insertAlsoAbstract(entity)
      guard try apply(data, to: object) else {
        context.delete(object)
        return nil
      }
      note(object)
      return object
    }
    // A bare key of an object that doesn't exist yet makes an object with only the key.
    guard let key, let identity else { throw MagicalImportError.notAnObject(entity: entity.name, value: data.shown) }
    let object = context.insertAlsoAbstract(entity)
    object.setValue(identity, at: key.attribute.slot)
    note(object)
    return object
  }

  /// Adds a new object to the table, so that later records find it.
  private func note(_ object: ManagedObject) {
    for place in places where object.entity.isKindOf(place.entity) {
      let value = object.value(at: place.attribute.slot)
      if case .some(nil) = known[place]?[value] { known[place]?[value] = object }
    }
  }

  private func apply(_ data: ImportedValue, to object: ManagedObject) throws -> Bool {
    guard case .object = data else {
      throw MagicalImportError.notAnObject(entity: object.entity.name, value: data.shown)
    }
    let hooks = object as? any DataImporting
    if hooks?.shouldImport(data) == false { return false }
    hooks?.willImport(data)
    let keys = keys(of: object.entity)
    for key in keys.attributes { try importAttribute(key, data, object, hooks) }
    for key in keys.relationships { try importRelationship(key, data, object, hooks) }
    hooks?.didImport(data)
    return true
  }

  private func importAttribute(
    _ key: ImportKeys.Attribute, _ data: ImportedValue, _ object: ManagedObject, _ hooks: (any DataImporting)?
  ) throws {
    if let value = key.lookup(data) {
      if try hooks?.importValue(value, forKey: key.attribute.name) == true { return }
      object.setValue(try conversion.value(value, for: key.attribute), at: key.attribute.slot)
    } else if key.usesDefault {
      object.setValue(key.attribute.defaultValue, at: key.attribute.slot)
    }
  }

  /// Adds objects to the relationship. Data without it leave it unchanged, and `null` empties it.
  private func importRelationship(
    _ key: ImportKeys.Relationship, _ data: ImportedValue, _ object: ManagedObject, _ hooks: (any DataImporting)?
  ) throws {
    guard let found = key.lookup(data) else { return }
    let relationship = key.relationship
    if try hooks?.importValue(found, forKey: relationship.name) == true { return }
    if hooks?.shouldImport(found, forRelationship: relationship.name) == false { return }
    if found.isNull {
      if !relationship.isToMany {
        object.setObject(nil, relationship.slot)
      } else if relationship.isOrdered {
        object.setOrderedObjects(OrderedSet<ManagedObject>(), relationship.slot)
      } else {
        object.setObjects(Set<ManagedObject>(), relationship.slot)
      }
      return
    }
    if !relationship.isToMany, case .array = found {
      throw MagicalImportError.notAnObject(entity: relationship.destinationEntity.name, value: found.shown)
    }
    for element in found.elements {
      guard let other = try importRecord(element, into: relationship.destinationEntity, by: key.relatedBy) else {
        continue
      }
      if relationship.isToMany {
        object.add(other, to: relationship.slot)
      } else {
        object.setObject(other, relationship.slot)
      }
    }
  }
}

extension ImportedValue {
  /// The elements of a list, or the value itself; without nulls.
  fileprivate var elements: [ImportedValue] {
    if case .array(let elements) = self { return elements.filter { !$0.isNull } }
    return isNull ? [] : [self]
  }
}

/// Why data couldn't be imported.
public enum MagicalImportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A value that the attribute's type can't represent.
  case unfit(entity: String, attribute: String, type: String, value: String)
  /// A date that doesn't have the model's format.
  case date(entity: String, attribute: String, format: String, value: String)
  /// A value without keys in place of an object of the entity.
  case notAnObject(entity: String, value: String)

  /// What can't be imported, and what to do.
  public var description: String {
    switch self {
    case .unfit(let entity, let attribute, let type, let value):
      return "\(entity).\(attribute) is of type \(type), which \(value) isn't: "
        + "import it by hand in importValue(_:forKey:), or correct the data"
    case .date(let entity, let attribute, let format, let value):
      return "\(entity).\(attribute) can't be read from \(value) by the format \(format): "
        + "say the data's own as dateFormat in the attribute's userInfo"
    case .notAnObject(let entity, let value):
      return "an object of \(entity) can't be imported from \(value): it needs values by key"
    }
  }
}

extension ManagedObjectContext {
  /// Imports one record into the object that it identifies, or a new one, with its related objects.
  ///
  /// The model's `userInfo` says how: `mappedKeyName`, `relatedByAttribute`, `dateFormat`,
  /// `useDefaultValueWhenNotPresent`. Nothing is saved. Classes can take part as ``DataImporting``.
  ///
  /// Source: `MR_importFromObject:inContext:`. Differences: relationships are looked up by every mapped name too; an object
  /// is never found by a key that the data doesn't have; a value that an attribute can't hold is an error and not 0.
  /// - Returns: the object; nil when its class refused the record.
  /// - Throws: ``MagicalImportError``, ``ManagedObjectError/unknownEntity(name:known:)``, or the store's error.
  @discardableResult
  public func importObject(_ data: ImportedValue, into entityName: String) throws -> ManagedObject? {
    try importObjects([data], into: entityName).first
  }

  /// Imports records as ``importObject(_:into:)`` does, with one fetch for each key attribute and batch.
  ///
  /// Source: `MR_importFromArray:inContext:`, which fetches for every object.
  /// - Returns: the objects in the order of the records, without those whose class refused the record.
  @discardableResult
  public func importObjects(
    _ records: [ImportedValue], into entityName: String, batchSize: Int = 1000
  ) throws -> [ManagedObject] {
    guard let entity = model.entitiesByName[entityName] else {
      throw ManagedObjectError.unknownEntity(name: entityName, known: model.entities.map(\.name))
    }
    return try MagicalImport(self).importRecords(records, into: entity, batchSize: batchSize)
  }
}

extension ManagedObject {
  /// Imports a record into this object, whatever the record's key.
  /// Source: `MR_importValuesForKeysWithObject:`.
  /// - Returns: whether the class accepted it.
  /// - Throws: ``MagicalImportError``, or the store's error.
  @discardableResult
  public final func importValues(from data: ImportedValue) throws -> Bool {
    guard let context = managedObjectContext else { return false }
    return try MagicalImport(context).importValues(data, into: self)
  }
}

/// MagicalRecord's hooks for a class whose objects are imported. Each is called on the context's queue, and has a default that
/// changes nothing.
///
/// Source: `shouldImport:`, `willImport:`, `didImport:`, `import<Key>:` and `shouldImport<Key>:` of MagicalRecord, which
/// looks for methods by their names; here the last two are one method each, with the key as an argument.
public protocol DataImporting: ManagedObject {
  /// Whether data is imported into the object. If not, a new object is deleted.
  func shouldImport(_ data: ImportedValue) -> Bool
  /// Called before the first property is set.
  func willImport(_ data: ImportedValue)
  /// Imports the value of one attribute or relationship in the class's own way. Called for values in the data and for defaults.
  /// - Returns: whether it was imported; if not, the import sets it.
  func importValue(_ value: ImportedValue, forKey key: String) throws -> Bool
  /// Whether the data of a relationship is imported.
  func shouldImport(_ data: ImportedValue, forRelationship name: String) -> Bool
  /// Called when attributes and relationships have been set.
  func didImport(_ data: ImportedValue)
}

extension DataImporting {
  /// Yes.
  public func shouldImport(_ data: ImportedValue) -> Bool { true }
  /// Does nothing.
  public func willImport(_ data: ImportedValue) {}
  /// Leaves it to the import.
  public func importValue(_ value: ImportedValue, forKey key: String) throws -> Bool { false }
  /// Yes.
  public func shouldImport(_ data: ImportedValue, forRelationship name: String) -> Bool { true }
  /// Does nothing.
  public func didImport(_ data: ImportedValue) {}
}
