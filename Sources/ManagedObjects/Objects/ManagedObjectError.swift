/// What a context, coordinator or store refuses or fails to do.
public enum ManagedObjectError: Error, Sendable, Equatable {
  /// The model has no entity of that name.
  case unknownEntity(name: String, known: [String])
  /// Abstract entities have no objects.
  case abstractEntity(name: String)
  /// Several entities have objects of the class, so the class doesn't say which is meant.
  case severalEntities(className: String, entities: [String])
  /// The entity has no property of that name.
  case unknownProperty(entity: String, name: String)
  /// A property was given a value of a type that it doesn't hold.
  case wrongType(entity: String, property: String, expected: String, found: String)
  /// A value was asked for as a type that it doesn't have.
  case notOfType(entity: String, keyPath: String, type: String, found: String)
  /// A key path leads to several values where one is asked for.
  case severalValues(entity: String, keyPath: String)
  /// The row isn't in the store (any more).
  case objectNotFound(ManagedObjectID)
  /// No store of the coordinator holds the entity.
  case noStore(entity: String)
  /// Objects don't pass validation; every failure.
  case validation([ValidationFailure])
  /// Rows with the same values in a uniqueness constraint are in the store already; every conflict.
  case constraintConflicts([ConstraintConflict])
  /// Rows were changed or deleted in the store since they were read.
  case mergeConflicts([MergeConflict])
  /// Relationships would lead to objects that aren't in the store any more; every one.
  case brokenReferences([BrokenReference])
  /// The store failed to read or write.
  case store(StoreFailure)
  /// A class's slots aren't the model's; every mismatch.
  case classMismatch([String])
  /// Objects went on changing in their ``ManagedObject/willSave()``, each time they were asked.
  case unsettledChanges(attempts: Int, objectIDs: [ManagedObjectID])
  /// An object of another context, or of none any more, was handed in.
  case foreignObject(ManagedObjectID)
  /// The store's tables aren't those of the model.
  case incompatibleStore(path: String, reason: String)
}

/// One object that doesn't pass validation.
public struct ValidationFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was wrong.
  public enum Reason: Sendable, Equatable {
    /// Something that isn't optional has no value.
    case missing
    /// A value is less than the bound.
    case belowMinimum(Value)
    /// A value is more than the bound.
    case aboveMaximum(Value)
    /// A string has fewer characters than that.
    case tooShort(Int)
    /// A string has more characters than that.
    case tooLong(Int)
    /// A string doesn't match the pattern.
    case doesNotMatch(String)
    /// The value isn't what one of the model's validation predicates demands; the predicate, and its warning.
    case failsPredicate(ValidationPredicate)
    /// A relationship holds fewer objects than that.
    case tooFewObjects(Int)
    /// A relationship holds more objects than that.
    case tooManyObjects(Int)
    /// A relationship whose rule is to deny holds objects.
    case deleteDenied
    /// The value is of a type that the attribute doesn't hold.
    case wrongType(String)
    /// The attribute that numbers the object was changed after the object had its permanent ID.
    case primaryKeyChanged
    /// A relationship leads to objects that another store holds, or will hold; these.
    case otherStore([ManagedObjectID])
    /// The object is of an abstract entity.
    case abstractEntity
    /// The object's class refuses it, in these words.
    case refused(String)
  }

  /// The name of the object's entity.
  public let entityName: String
  /// The object; nil when values were checked that aren't an object yet.
  public let objectID: ManagedObjectID?
  /// The property that failed; empty when the object's class refuses the object as a whole.
  public let property: String
  /// What was wrong.
  public let reason: Reason

  init(entity: EntityDescription, objectID: ManagedObjectID?, property: String, reason: Reason) {
    entityName = entity.name
    self.objectID = objectID
    self.property = property
    self.reason = reason
  }

  /// A failure that a class finds in its own validation, in words; without a property when it is the object's as a whole.
  public init(_ object: ManagedObject, property: String = "", message: String) {
    self.init(entity: object.entity, objectID: object.objectID, property: property, reason: .refused(message))
  }

  /// A short name of the reason that doesn't change between versions.
  public var code: String {
    switch reason {
    case .missing: return "missing_value"
    case .belowMinimum: return "below_minimum"
    case .aboveMaximum: return "above_maximum"
    case .tooShort: return "too_short"
    case .tooLong: return "too_long"
    case .doesNotMatch: return "no_match"
    case .failsPredicate: return "fails_predicate"
    case .tooFewObjects: return "too_few_objects"
    case .tooManyObjects: return "too_many_objects"
    case .deleteDenied: return "delete_denied"
    case .wrongType: return "wrong_type"
    case .primaryKeyChanged: return "primary_key_changed"
    case .otherStore: return "other_store"
    case .abstractEntity: return "abstract_entity"
    case .refused: return "refused"
    }
  }

  /// What was wrong, in words.
  public var description: String {
    let name = property.isEmpty ? entityName : "\(entityName).\(property)"
    switch reason {
    case .missing: return "\(name) is required and has no value"
    case .belowMinimum(let bound): return "\(name) is less than \(bound.plainText)"
    case .aboveMaximum(let bound): return "\(name) is more than \(bound.plainText)"
    case .tooShort(let length): return "\(name) has fewer than \(length) characters"
    case .tooLong(let length): return "\(name) has more than \(length) characters"
    case .doesNotMatch(let pattern): return "\(name) doesn't match \(pattern)"
    case .failsPredicate(let predicate): return "\(name): \(predicate.warning) (\(predicate.predicateFormat))"
    case .tooFewObjects(let count): return "\(name) has fewer than \(count) objects"
    case .tooManyObjects(let count): return "\(name) has more than \(count) objects"
    case .deleteDenied: return "it can't be deleted while \(name) holds objects"
    case .wrongType(let found): return "\(name) was given a \(found)"
    case .primaryKeyChanged: return "\(name) is the primary key, which can't change once the object is saved"
    case .abstractEntity:
      return "\(entityName) is abstract, and its objects can't be saved: use an entity that inherits from it"
    case .otherStore(let ids):
      let names = ids.prefix(3).map(\.description).joined(separator: ", ") + (ids.count > 3 ? ", …" : "")
      return "\(name)\(objectID.map { " of \($0)" } ?? "") leads to \(names) in another store, which no relationship "
        + "can: assign(_:to:) brings new objects to one store; between stores keep a URI and a fetched property"
    case .refused(let message): return "\(name): \(message)"
    }
  }
}

extension ManagedObjectError: CustomStringConvertible {
  /// What happened, in words, with the names of those concerned.
  public var description: String {
    switch self {
    case .unknownEntity(let name, let known):
      if known.isEmpty { return "no model has been made with an entity for \(name)" }
      return "the model has no entity \(name); it has \(known.sorted().joined(separator: ", "))"
    case .abstractEntity(let name): return "\(name) is abstract: insert an object of an entity that inherits from it"
    case .unknownProperty(let entity, let name): return "\(entity) has no property \(name)"
    case .wrongType(let entity, let property, let expected, let found):
      return "\(entity).\(property) is of type \(expected) and was given a \(found)"
    case .severalEntities(let name, let entities):
      return
        "objects of the class \(name) are of several entities (\(entities.joined(separator: ", "))): name one of them"
    case .notOfType(let entity, let keyPath, let type, let found):
      return "\(entity).\(keyPath) holds a value of type \(found), which can't be read as \(type)"
    case .severalValues(let entity, let keyPath):
      return
        "\(entity).\(keyPath) leads to several values: read them with values(forKeyPath:), or end the key path with an "
        + "operator such as @sum"
    case .objectNotFound(let id): return "\(id) isn't in the store"
    case .noStore(let entity): return "no store of the coordinator holds \(entity)"
    case .validation(let failures): return failures.map(\.description).joined(separator: "; ")
    case .constraintConflicts(let conflicts):
      let names = conflicts.prefix(3).map { conflict in
        let other = (conflict.databaseObjectID ?? conflict.earlier?.id).map { ", as \($0) is" } ?? ""
        return "\(conflict.objectID.entity.name) by \(conflict.constraint.joined(separator: ", "))\(other)"
      }
      let count = Set(conflicts.map(\.objectID)).count
      return "\(count) object(s) are in the store already: " + names.joined(separator: "; ")
    case .mergeConflicts(let conflicts):
      let names = conflicts.prefix(3).map { "\($0.objectID) was \($0.isDeleted ? "deleted" : "changed")" }
      return "\(conflicts.count) object(s) changed in the store since they were read: " + names.joined(separator: "; ")
    case .brokenReferences(let references):
      return references.prefix(3).map(\.description).joined(separator: "; ")
        + (references.count > 3 ? "; and \(references.count - 3) more" : "")
    case .store(let failure): return failure.description
    case .classMismatch(let mismatches): return "classes don't fit the model: " + mismatches.joined(separator: "; ")
    case .unsettledChanges(let attempts, let ids):
      let names = ids.prefix(3).map(\.description).joined(separator: ", ")
      return "after \(attempts) rounds of willSave() it still changes objects (\(names)): it must set only what differs"
    case .foreignObject(let id): return "\(id) belongs to another context: fetch it here by its objectID"
    case .incompatibleStore(let path, let reason): return "\(path) doesn't fit the model: \(reason)"
    }
  }
}
