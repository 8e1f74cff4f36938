/// What is to become of one object: the options of a job of kind `edit`, and the body of `POST /v1/objects/{entity}/check`.
package struct ObjectEdit: Codable, Sendable, Hashable {
  /// The job's kind.
  package static let kind = "edit"

  /// The store's name; nil for the only one that has the entity.
  package var store: String?
  /// The object's number; nil for a new one.
  package var object: Int64?
  /// The version in which it was seen: if it has another one, nothing is changed. Nil: whatever it is.
  package var version: String?
  /// New values, by the names of attributes and to-one relationships. The texts are as an import takes them.
  package var values: [String: OptionValue]
  /// Attributes and to-one relationships that are to have no value.
  package var cleared: [String]
  /// Whether the object is deleted.
  package var isDeletion: Bool

  package init(
    store: String? = nil, object: Int64? = nil, version: String? = nil, values: [String: OptionValue] = [:],
    cleared: [String] = [], isDeletion: Bool = false
  ) {
    self.store = store
    self.object = object
    self.version = version
    self.values = values
    self.cleared = cleared
    self.isDeletion = isDeletion
  }

  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    store = try body.decodeIfPresent(String.self, forKey: .store)
    object = try body.decodeIfPresent(Int64.self, forKey: .object)
    version = try body.decodeIfPresent(String.self, forKey: .version)
    values = try body.decodeIfPresent([String: OptionValue].self, forKey: .values) ?? [:]
    cleared = try body.decodeIfPresent([String].self, forKey: .cleared) ?? []
    isDeletion = try body.decodeIfPresent(Bool.self, forKey: .isDeletion) ?? false
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case store, object, version
    case values = "set"
    case cleared = "clear"
    case isDeletion = "delete"
  }

  /// Whether nothing would be changed.
  package var isEmpty: Bool { object != nil && values.isEmpty && cleared.isEmpty && !isDeletion }

  /// The job that does it.
  package func submission(entity: String) -> JobSubmission {
    var options: [String: OptionValue] = [:]
    options["object"] = object.map { .int(Int($0)) }
    options["version"] = version.map { .string($0) }
    if !values.isEmpty { options["set"] = .map(values) }
    if !cleared.isEmpty { options["clear"] = .list(cleared.map { .string($0) }) }
    if isDeletion { options["delete"] = .bool(true) }
    return JobSubmission(kind: Self.kind, store: store, entity: entity, options: options)
  }
}

/// One object with what can be changed of it: what `GET /v1/objects/{entity}/{number}` answers.
package struct EditableObject: Codable, Sendable, Hashable {
  /// An attribute or a to-one relationship.
  package struct Property: Codable, Sendable, Hashable {
    package var name: String
    /// The attribute's type; that of the key for a relationship to objects that have one, or else `ObjectID`.
    package var type: String
    /// The entity that a relationship leads to; nil for an attribute.
    package var entity: String?
    /// The attribute of that entity by whose value its objects are named; nil for their numbers.
    package var key: String?
    package var isOptional: Bool
    /// Its value; of a relationship, the other object's key or number. For a new object, the model's default.
    package var value: JSONValue
    /// The other object's number.
    package var number: Int64?
    /// Why it can't be changed.
    package var refusal: String?

    package init(
      name: String, type: String, entity: String? = nil, key: String? = nil, isOptional: Bool = true,
      value: JSONValue = .null, number: Int64? = nil, refusal: String? = nil
    ) {
      self.name = name
      self.type = type
      self.entity = entity
      self.key = key
      self.isOptional = isOptional
      self.value = value
      self.number = number
      self.refusal = refusal
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case name, type, entity, key
      case isOptional = "optional"
      case value, number
      case refusal
    }
  }

  package var entity: String
  package var store: String
  /// Its number; nil for a new one.
  package var object: Int64?
  /// What changes with its values; nil for a new one.
  package var version: String?
  package var properties: [Property]
  /// Why nothing of it can be changed.
  package var refusal: Problem?

  package init(
    entity: String, store: String, object: Int64? = nil, version: String? = nil, properties: [Property] = [],
    refusal: Problem? = nil
  ) {
    self.entity = entity
    self.store = store
    self.object = object
    self.version = version
    self.properties = properties
    self.refusal = refusal
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case entity, store, object, version, properties, refusal
  }
}

/// What an edit would do: what `POST /v1/objects/{entity}/check` answers.
package struct EditCheck: Codable, Sendable, Hashable {
  /// Why it would fail.
  package struct Fault: Codable, Sendable, Hashable {
    /// The property at fault; nil where it is the object as a whole.
    package var property: String?
    package var reason: String

    package init(property: String? = nil, reason: String) {
      self.property = property
      self.reason = reason
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case property, reason }
  }

  /// How many objects of an entity would be changed or deleted by it, those that go along with the object included.
  package struct Extent: Codable, Sendable, Hashable {
    package var entity: String
    package var changed: Int
    package var deleted: Int

    package init(entity: String, changed: Int, deleted: Int) {
      self.entity = entity
      self.changed = changed
      self.deleted = deleted
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case entity, changed, deleted }
  }

  package var faults: [Fault]
  /// Whether the object isn't as it was seen.
  package var isStale: Bool
  package var extent: [Extent]
  /// Set if more objects than this would be changed or deleted along with the object. ``extent`` is empty then, and the check
  /// doesn't say whether any of them stands in the way.
  package var moreThan: Int?

  package init(faults: [Fault] = [], isStale: Bool = false, extent: [Extent] = [], moreThan: Int? = nil) {
    self.faults = faults
    self.isStale = isStale
    self.extent = extent
    self.moreThan = moreThan
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case faults
    case isStale = "stale"
    case extent
    case moreThan = "more_than"
  }
}
