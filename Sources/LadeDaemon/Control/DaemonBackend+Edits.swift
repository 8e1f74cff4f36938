import ControlAPI
import ControlServer
import Importing
import Jobs
import ManagedObjects

extension DaemonBackend {
  func editable(
    _ number: Int64?, of entity: String, in store: String?, by peer: Peer
  ) async throws -> EditableObject {
    let (store, description) = try target(ObjectQuery(entity: entity, store: store))
    if number == nil, description.isAbstract {
      throw ControlError.invalid(
        field: "entity", reason: "\(entity) is abstract, so it has no objects of its own",
        hint: "Name an entity that inherits from it.")
    }
    let masked = maskedAttributes(of: description, in: store)
    var refusal: Problem?
    do {
      try permissions.check(JobSubmission(kind: EditOperation.kind), by: peer)
    } catch let error as ControlError {
      refusal = error.problem
    }
    return try await reading(store, by: peer) { [refusal] context in
      var shown = EditableObject(
        entity: entity, store: store.configuration.name, object: number, refusal: refusal)
      guard let number else {
        let object = try context.insert(entity)
        shown.properties = Self.properties(of: object, masked)
        return shown
      }
      guard let object = try EditPlan.object(number, of: description, in: context) else {
        throw Self.noSuchObject(number, of: entity, in: store)
      }
      shown.version = RowVersion.text(of: object)
      shown.properties = Self.properties(of: object, masked)
      return shown
    }
  }

  func check(_ edit: ObjectEdit, of entity: String, by peer: Peer) async throws -> EditCheck {
    let (store, description) = try target(ObjectQuery(entity: entity, store: edit.store))
    let submission = edit.submission(entity: entity)
    // A check reads what a deletion would take along, so it takes the permission to delete.
    try permissions.check(submission, by: peer)
    let most = 2 * description.propertiesByName.count
    guard edit.values.count + edit.cleared.count <= most else {
      throw ControlError.invalid(field: "set", reason: "\(entity) has \(description.propertiesByName.count) properties")
    }
    let change: EditPlan
    do {
      let options = try EditOptions.read(submission)
      change = EditPlan(options, of: description)
      let masked = maskedAttributes(of: description, in: store)
      let faults =
        change.faults.map { EditCheck.Fault(property: $0.property, reason: $0.reason) }
        + (edit.values.keys + edit.cleared).filter(masked.contains).sorted().map {
          .init(property: $0, reason: Self.isMasked)
        }
      if !faults.isEmpty { return EditCheck(faults: faults) }
      try change.check()
    } catch let failure as JobFailure {
      throw ControlError.invalid(field: "edit", reason: failure.message)
    }
    return try await reading(store, by: peer) { context in
      do {
        let (object, _) = try change.apply(in: context)
        let most = Self.mostAlong
        if edit.isDeletion, try DeletionReach.ofDeletion(object, exceeds: most, in: context) {
          return EditCheck(moreThan: most)
        }
        context.processPendingChanges()
        return EditCheck(faults: try Self.faults(in: context), extent: Self.extent(in: context))
      } catch EditError.gone(_, let number) {
        throw Self.noSuchObject(number, of: entity, in: store)
      } catch EditError.changed {
        return EditCheck(isStale: true)
      } catch EditError.noDestination(let property, let reason) {
        return EditCheck(faults: [.init(property: property, reason: reason)])
      }
    }
  }

  /// Up to how many objects a check says what becomes of them.
  private static let mostAlong = 1_000

  /// Attributes whose values are masks, so that none can be typed in.
  private func maskedAttributes(of entity: EntityDescription, in store: DataStores.Store) -> Set<String> {
    plan.maskedAttributes(of: entity, in: store)
  }

  private static let isMasked = EditRefusal.masked

  private static func noSuchObject(_ number: Int64, of entity: String, in store: DataStores.Store) -> ControlError {
    .noSuchObject(number, of: entity, store: store.configuration.name)
  }

  // MARK: What there is

  private static func properties(of object: ManagedObject, _ masked: Set<String>) -> [EditableObject.Property] {
    let entity = object.entity
    let attributes = entity.attributes.filter { !$0.isTransient }.map { attribute in
      EditableObject.Property(
        name: attribute.name, type: attribute.type.rawValue, isOptional: attribute.isOptional,
        value: JSONValue(object.value(at: attribute.slot)),
        refusal: masked.contains(attribute.name) ? isMasked : EditRefusal.of(attribute, in: entity))
    }
    let relationships = entity.relationships.filter { !$0.isToMany && !$0.isUnstored }.map { relationship in
      let other = relationship.destinationEntity
      let led: ManagedObject? = object.object(relationship.slot)
      let value = led.map { led in
        other.keyAttribute.map { JSONValue(led.value(at: $0.slot)) } ?? .int(led.objectID.number)
      }
      return EditableObject.Property(
        name: relationship.name, type: other.keyAttribute?.type.rawValue ?? "ObjectID", entity: other.name,
        key: other.keyAttribute?.name, isOptional: relationship.isOptional, value: value ?? .null,
        number: led?.objectID.number)
    }
    return attributes + relationships
  }

  // MARK: Checking

  /// What a save would refuse, as far as that can be seen without writing.
  private static func faults(in context: ManagedObjectContext) throws -> [EditCheck.Fault] {
    var failures: [ValidationFailure] = []
    func collect(_ body: () throws -> Void) throws {
      do {
        try body()
      } catch ManagedObjectError.validation(let found) {
        failures += found
      } catch let found as ValidationFailure {
        failures.append(found)
      }
    }
    for object in context.deletedObjects { try collect { try object.validateForDelete() } }
    for object in context.insertedObjects { try collect { try object.validateForInsert() } }
    for object in context.updatedObjects { try collect { try object.validateForUpdate() } }
    var faults = failures.map { failure in
      EditCheck.Fault(property: failure.property.isEmpty ? nil : failure.property, reason: "\(failure)")
    }
    for object in context.insertedObjects + context.updatedObjects { faults += try duplicates(of: object, in: context) }
    return faults
  }

  /// Uniqueness constraints that other objects stand in the way of.
  private static func duplicates(
    of object: ManagedObject, in context: ManagedObjectContext
  ) throws -> [EditCheck.Fault] {
    let changed = Set(object.changedValues().keys)
    var faults: [EditCheck.Fault] = []
    for constraint in object.entity.uniquenessConstraints {
      let values = constraint.map { object.value(at: $0.slot) }
      // Null is like nothing else.
      guard !values.contains(where: \.isNull),
        object.isInserted || constraint.contains(where: { changed.contains($0.name) })
      else { continue }
      let request = FetchRequest<ManagedObject>(
        entityName: object.entity.name, predicate: .and(zip(constraint, values).map { .equal($0.name, $1) }),
        fetchLimit: 2, includesPendingChanges: false)
      guard let other = try context.fetchIDs(request).first(where: { $0 != object.objectID }) else { continue }
      let names = constraint.map(\.name).joined(separator: ", ")
      faults.append(
        .init(property: constraint.first?.name, reason: "\(names) must be unique, and \(other) has the same"))
    }
    return faults
  }

  private static func extent(in context: ManagedObjectContext) -> [EditCheck.Extent] {
    var extent: [String: EditCheck.Extent] = [:]
    func count(_ objects: [ManagedObject], _ key: WritableKeyPath<EditCheck.Extent, Int>) {
      for object in objects {
        let name = object.entity.name
        extent[name, default: .init(entity: name, changed: 0, deleted: 0)][keyPath: key] += 1
      }
    }
    count(context.updatedObjects, \.changed)
    count(context.deletedObjects, \.deleted)
    return extent.values.sorted { $0.entity < $1.entity }
  }
}
