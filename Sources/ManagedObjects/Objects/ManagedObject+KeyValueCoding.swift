// Key-value coding by names and key paths. The methods for single keys that return a ``Value`` are in
// ManagedObject+Values.swift; these read and write Swift's types, objects, and several values at once.

extension ManagedObject {
  // MARK: Reading

  /// The value at a key path, as the type asked for; nil when there is none.
  ///
  /// ```swift
  /// let name = try person["name"] as String?
  /// let city = try person["employer.address.city"] as String?
  /// let average = try company["staff.@avg.salary"] as Double?
  /// ```
  ///
  /// A number is read as any numeric type that holds it exactly. Source: `value(forKeyPath:)` of Core Data, with a cast.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)``, ``ManagedObjectError/severalValues(entity:keyPath:)``, or
  ///   ``ManagedObjectError/notOfType(entity:keyPath:type:found:)``.
  public final subscript<T: AttributeValue>(keyPath: String) -> T? {
    get throws {
      let value = try value(forKeyPath: keyPath)
      return value.isNull ? nil : try typed(value, T.self, keyPath)
    }
  }

  /// The object at a key path; nil when there is none. Errors are those of the other subscripts.
  ///
  /// ```swift
  /// let employer = try person["employer"] as Company?
  /// ```
  public final subscript<T: ManagedObject>(keyPath: String) -> T? {
    get throws {
      let value = try value(forKeyPath: keyPath)
      return value.isNull ? nil : try related(value, T.self, keyPath)
    }
  }

  /// The objects at a key path, in their order if the relationship has one.
  ///
  /// ```swift
  /// let staff = try company["staff"] as [Person]
  /// ```
  public final subscript<T: ManagedObject>(keyPath: String) -> [T] {
    get throws { try values(forKeyPath: keyPath).map { try related($0, T.self, keyPath) } }
  }

  /// The objects at a key path.
  ///
  /// ```swift
  /// let staff = try company["staff"] as Set<Person>
  /// ```
  public final subscript<T: ManagedObject>(keyPath: String) -> Set<T> {
    get throws { Set(try values(forKeyPath: keyPath).map { try related($0, T.self, keyPath) }) }
  }

  /// The values at a key path over to-many relationships, without nils.
  ///
  /// ```swift
  /// let names = try company["staff.name"] as [String]
  /// ```
  public final subscript<T: AttributeValue>(keyPath: String) -> [T] {
    get throws { try values(forKeyPath: keyPath).filter { !$0.isNull }.map { try typed($0, T.self, keyPath) } }
  }

  private final func typed<T: AttributeValue>(_ value: Value, _ type: T.Type, _ keyPath: String) throws -> T {
    if let typed = T(slotValue: value) { return typed }
    for type in [AttributeType.integer64, .double, .decimal] {
      if let typed = T(slotValue: value.exactly(as: type)) { return typed }
    }
    throw ManagedObjectError.notOfType(
      entity: entity.name, keyPath: keyPath, type: "\(T.self)", found: value.typeName)
  }

  private final func related<T: ManagedObject>(_ value: Value, _ type: T.Type, _ keyPath: String) throws -> T {
    guard case .object(let id) = value else {
      throw ManagedObjectError.notOfType(
        entity: entity.name, keyPath: keyPath, type: "\(T.self)", found: value.typeName)
    }
    guard let object = id == self.id ? self : managedObjectContext?.object(with: id) else {
      throw ManagedObjectError.objectNotFound(id)
    }
    guard let typed = object as? T else {
      throw ManagedObjectError.notOfType(
        entity: entity.name, keyPath: keyPath, type: "\(T.self)", found: id.entity.name)
    }
    return typed
  }

  /// The values of several properties by their names: ``value(forKey:)`` of each. nil is ``Value/null``, so that
  /// ``setValuesForKeys(_:)`` takes the result. Source: `dictionaryWithValues(forKeys:)` of Foundation.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)``.
  public final func dictionaryWithValues(forKeys keys: [String]) throws -> [String: Value] {
    var values: [String: Value] = [:]
    for key in keys {
      guard let value = value(forKey: key) else {
        throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
      }
      values[key] = value
    }
    return values
  }

  // MARK: Writing

  /// Sets the attribute called `key` to a Swift value; to nil for nil.
  /// - Throws: the errors of ``setValue(_:forKey:)-(Value,_)``.
  public final func setValue<T: AttributeValue>(_ value: T?, forKey key: String) throws {
    try setValue(value?.slotValue ?? Value.null, forKey: key)
  }

  /// Points the to-one relationship called `key` to an object of the same context, or to none, and keeps the inverse.
  /// - Throws: the errors of ``setValue(_:forKey:)-(Value,_)``, and ``ManagedObjectError/foreignObject(_:)``.
  public final func setValue<T: ManagedObject>(_ object: T?, forKey key: String) throws {
    guard let object else { return try setValue(Value.null, forKey: key) }
    try setValue(Value.object(ownID(of: object)), forKey: key)
  }

  /// Makes the to-many relationship called `key` hold exactly these objects of the same context, in this order if it has one,
  /// and keeps the inverse.
  /// - Throws: the errors of ``setValue(_:forKey:)-(Value,_)``, and ``ManagedObjectError/foreignObject(_:)``.
  public final func setValue<Objects: Sequence>(_ objects: Objects, forKey key: String) throws
  where Objects.Element: ManagedObject {
    try setValue(Value.orderedObjects(OrderedSet(objects.map { try ownID(of: $0) })), forKey: key)
  }

  private final func ownID(of other: ManagedObject) throws -> ManagedObjectID {
    guard other.confinement === confinement else { throw ManagedObjectError.foreignObject(other.id) }
    return other.id
  }

  /// Sets several properties by their names. Nothing is set when a name is unknown; otherwise they are set in the order of
  /// their names, up to one that fails. Source: `setValuesForKeys(_:)` of Foundation.
  /// - Throws: the errors of ``setValue(_:forKey:)-(Value,_)``.
  public final func setValuesForKeys(_ keyedValues: [String: Value]) throws {
    let sorted = keyedValues.sorted { $0.key < $1.key }
    for (key, _) in sorted
    where entity.propertiesByName[key] == nil && entity.compositeAttributesByName[key] == nil {
      throw ManagedObjectError.unknownProperty(entity: entity.name, name: key)
    }
    for (key, value) in sorted { try setValue(value, forKey: key) }
  }

  // MARK: Key paths

  /// The value at a key path: an attribute's, an object's or several objects' as IDs, or the result of an operator.
  ///
  /// A path over a to-many relationship continues with each of its objects: `departments.staff` is everybody in them. Such a path
  /// ends in objects, or has an operator, whose own path follows it:
  ///
  /// | operator | result |
  /// |---|---|
  /// | `@count` | how many objects there are |
  /// | `@sum`, `@avg` | of numbers, nil counting as 0; 0 where there are none |
  /// | `@min`, `@max` | the least or greatest value, nil left out; nil where there is none |
  /// | `@unionOfObjects`, `@distinctUnionOfObjects` | all values without nil, for ``values(forKeyPath:)`` |
  ///
  /// `@unionOfArrays`, `@distinctUnionOfArrays` and `@distinctUnionOfSets` are the same, because sets within sets are one here.
  /// Where a to-one relationship on the way is nil, so is the value.
  /// Source: `value(forKeyPath:)` of Foundation, which raises where this throws.
  /// - Throws: ``ManagedObjectError/unknownProperty(entity:name:)``; ``ManagedObjectError/severalValues(entity:keyPath:)`` when
  ///   it leads to the values of several objects; ``ManagedObjectError/notOfType(entity:keyPath:type:found:)`` for a sum of what
  ///   isn't a number.
  public final func value(forKeyPath keyPath: String) throws -> Value {
    if let value = value(forKey: keyPath) { return value }
    let found = try KeyPathValues(keyPath, of: self)
    guard found.isSeveral else { return found.values.first ?? .null }
    guard found.isOfObjects else {
      throw ManagedObjectError.severalValues(entity: entity.name, keyPath: keyPath)
    }
    let ids = found.values.compactMap { value -> ManagedObjectID? in
      if case .object(let id) = value { return id }
      return nil
    }
    return found.isOrdered ? .orderedObjects(OrderedSet(ids)) : .objects(Set(ids))
  }

  /// The values at a key path, one for each object that it leads over, nil included; a single value is one, nil none. See
  /// ``value(forKeyPath:)``, which describes the operators and errors.
  public final func values(forKeyPath keyPath: String) throws -> [Value] {
    let found = try KeyPathValues(keyPath, of: self)
    return found.isSeveral ? found.values : found.values.filter { !$0.isNull }
  }
}

/// What a key path leads to from one object: each key is taken of everything that the keys before it have led to.
private struct KeyPathValues {
  /// What has been reached. Objects are IDs.
  private(set) var values: [Value]
  /// Whether the path has led over a to-many relationship or an operator that keeps several values.
  private(set) var isSeveral = false
  /// Whether the values are objects, or nil in their place.
  private(set) var isOfObjects = true
  private(set) var isOrdered = false
  /// The entity of what has been reached, for keys after nil or an empty set.
  private var entity: EntityDescription
  private let start: ManagedObject
  private let keyPath: String

  init(_ keyPath: String, of object: ManagedObject) throws {
    object.confinement.check()
    self.keyPath = keyPath
    start = object
    entity = object.entity
    values = [.object(object.id)]
    try follow(keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...])
  }

  private mutating func follow(_ path: ArraySlice<String>) throws {
    var keys = path
    while let key = keys.first {
      if key.hasPrefix("@") { return try apply(key, keys.dropFirst()) }
      if key == "self" {
        keys = keys.dropFirst()
      } else {
        let length = try step(keys)
        keys = keys.dropFirst(length)
      }
    }
  }

  /// Takes the next property of everything reached. Returns how many keys its name has.
  private mutating func step(_ keys: ArraySlice<String>) throws -> Int {
    guard isOfObjects else { throw unknown(keys) }
    var reached: [Value] = []
    // The entity says what the key is where no object does.
    var key = try find(keys, in: entity.selfAndDescendants)
    for value in values {
      guard case .object(let id) = value,
        let object = id == start.id ? start : start.managedObjectContext?.object(with: id)
      else {
        if !isSeveral || !key.isToMany { reached.append(.null) }
        continue
      }
      key = try find(keys, in: [object.entity])
      let content = key.value(of: object)
      if key.isToMany { reached += content.relatedIDs.map(Value.object) } else { reached.append(content) }
    }
    // nil has no set, and nothing leads on from it.
    let isNil = !isSeveral && values.first?.isNull == true
    values = reached
    isSeveral = isSeveral || (key.isToMany && !isNil)
    isOrdered = key.isOrdered
    isOfObjects = key.destination != nil
    entity = key.destination ?? entity
    return key.length
  }

  private mutating func apply(_ name: String, _ path: ArraySlice<String>) throws {
    if !isSeveral, values.first?.isNull == true { return }
    guard isSeveral else { throw unknown([name]) }
    if name == "@count" {
      guard path.isEmpty else { throw unknown([name] + path) }
      return become(.int(Int64(values.count)))
    }
    guard !path.isEmpty else { throw unknown([name]) }
    try follow(path)
    guard isSeveral else { throw unknown([name] + path) }
    switch name {
    case "@sum": become(Aggregation.value(.sum, of: try numbers()))
    case "@avg": become(values.isEmpty ? .double(0) : Aggregation.value(.average, of: try numbers()))
    case "@min": become(Aggregation.value(.minimum, of: values))
    case "@max": become(Aggregation.value(.maximum, of: values))
    case "@unionOfObjects", "@unionOfArrays": values.removeAll(where: \.isNull)
    case "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@distinctUnionOfSets":
      values = Array(OrderedSet(values.filter { !$0.isNull }))
    default: throw unknown([name])
    }
  }

  private mutating func become(_ value: Value) {
    (values, isSeveral, isOfObjects) = ([value], false, false)
  }

  private func numbers() throws -> [Value] {
    try values.map { value in
      if value.isNull { return .int(0) }
      guard Number(value) != nil else {
        throw ManagedObjectError.notOfType(
          entity: start.entity.name, keyPath: keyPath, type: "number", found: value.typeName)
      }
      return value
    }
  }

  private func unknown(_ keys: ArraySlice<String>) -> ManagedObjectError {
    .unknownProperty(entity: entity.name, name: keys.joined(separator: "."))
  }

  /// A key, which for an element of a composite attribute has several names.
  private struct Key {
    enum Kind {
      case objectID
      case property(PropertyDescription)
      case composite(CompositeAttributeDescription)
      case fetched(String)
    }

    let kind: Kind
    var length = 1
    /// The entity that it leads to; nil for a value.
    var destination: EntityDescription?

    var isToMany: Bool {
      switch kind {
      case .fetched: return true
      case .property(let property): return (property as? RelationshipDescription)?.isToMany == true
      case .objectID, .composite: return false
      }
    }

    var isOrdered: Bool {
      switch kind {
      case .fetched: return true
      case .property(let property): return (property as? RelationshipDescription)?.isOrdered == true
      case .objectID, .composite: return false
      }
    }

    func value(of object: ManagedObject) -> Value {
      switch kind {
      case .objectID: return .object(object.id)
      case .property(let property): return object.value(forKey: property.name) ?? .null
      case .composite(let composite): return object.value(of: composite)
      case .fetched(let name): return object.value(forKey: name) ?? .null
      }
    }
  }

  private func find(_ keys: ArraySlice<String>, in entities: [EntityDescription]) throws -> Key {
    for entity in entities {
      if let (property, length) = entity.property(beginning: keys) {
        return Key(
          kind: .property(property), length: length,
          destination: (property as? RelationshipDescription)?.destinationEntity)
      }
      if let composite = entity.compositeAttributesByName[keys.joined(separator: ".")] {
        return Key(kind: .composite(composite), length: keys.count)
      }
      if let key = keys.first, let fetched = entity.fetchedProperty(named: key) {
        return Key(
          kind: .fetched(key), destination: start.managedObjectContext?.model.entitiesByName[fetched.entityName])
      }
    }
    if keys.first == "objectID" { return Key(kind: .objectID, destination: entity) }
    let isComposite = keys.first.map { entities[0].compositeAttributesByName[$0] != nil } ?? false
    throw ManagedObjectError.unknownProperty(
      entity: entities[0].name, name: keys.prefix(isComposite ? keys.count : 1).joined(separator: "."))
  }
}
