import ManagedObjects

/// The rows of one of a job's saves, as lineage recorded them.
struct RecordedRows {
  /// A row of a save; of one that was changed or deleted with what it was.
  struct Former {
    let id: ManagedObjectID
    let fingerprint: UInt32?
    let values: [BeforeValue]
  }

  /// A member that a save has put into a set.
  struct Membership: Hashable {
    let holder: ManagedObjectID
    let property: String
    let member: ManagedObjectID
  }

  var inserted: [Former] = []
  var updated: [Former] = []
  var deleted: [Former] = []
  /// What the save itself has put into sets.
  var joined: Set<Membership> = []
  /// Inserted rows of which that isn't known any more.
  var unclear: Set<ManagedObjectID> = []
  /// The last of its lists.
  var end: ManagedObjectID?
  /// Rows that can't be taken back in any case.
  var lost: [JobReversal.Kept] = []

  var count: Int { deleted.count + updated.count + inserted.count }

  /// Whether the save itself has put a member into a set, as far as is known.
  func hasPut(_ member: ManagedObjectID, into set: RelationshipDescription, of holder: ManagedObject) -> Bool {
    set.isToMany
      && (unclear.contains(member)
        || joined.contains(Membership(holder: holder.objectID, property: set.name, member: member)))
  }

  /// Notes, from both ends, which members a row has got.
  mutating func note(_ values: [BeforeValue], of id: ManagedObjectID) {
    for value in values {
      guard case .members(_, let got) = value.content else { continue }
      let relationship = id.entity.propertiesByName[value.property] as? RelationshipDescription
      let inverse = relationship?.inverseRelationship
      for member in got {
        joined.insert(Membership(holder: id, property: value.property, member: member))
        if let inverse { joined.insert(Membership(holder: member, property: inverse.name, member: id)) }
      }
    }
  }

  /// Leaves all but a part out; its rows are counted in the order in which they are taken back.
  mutating func cut(to part: Range<Int>) {
    if part.lowerBound > 0 { lost.removeAll() }
    let (first, second) = (deleted.count, deleted.count + updated.count)
    deleted = Array(deleted[part.clamped(to: 0..<first)])
    updated = updated.isEmpty ? [] : Array(updated[Self.moved(part, by: first, in: updated.count)])
    inserted = inserted.isEmpty ? [] : Array(inserted[Self.moved(part, by: second, in: inserted.count)])
  }

  private static func moved(_ part: Range<Int>, by offset: Int, in count: Int) -> Range<Int> {
    let lower = min(max(part.lowerBound - offset, 0), count)
    return lower..<min(max(part.upperBound - offset, lower), count)
  }

  /// Reads them.
  /// - Parameter job: names the job in its checkpoint.
  init(of save: Int64, by job: String, in context: ManagedObjectContext) throws {
    let coordinator = context.persistentStoreCoordinator
    let ofSave: FetchPredicate = .equal("job", .string(job)) && .equal("save", .int(save))
    let images = try Self.images(ofSave, in: context)
    let segments = try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.lineageEntity, predicate: ofSave, sortDescriptors: [FetchSortDescriptor("part")],
        includesPendingChanges: false))
    for segment in segments {
      guard let event = RowEvent(rawValue: segment.number("event")) else { throw LineageError.damaged }
      end = segment.objectID
      let entity = segment.text("entity")
      let isKnown = coordinator.model.entitiesByName[entity] != nil
      let known = images[segment.number("part")] ?? []
      let hasJoined = segment.number("count") < 0
      for (index, entry) in try LineageEntries.read(segment.data("rows"), of: event).enumerated() {
        guard isKnown else {
          lost.append(JobReversal.Kept(entity, entry.row, .invalid, "\(entity) isn't in the model any more"))
          continue
        }
        let id = try Self.id(entity, entry.row, coordinator)
        if event == .inserted {
          inserted.append(Former(id: id, fingerprint: entry.fingerprint, values: []))
          if index < known.count { note(known[index], of: id) } else if hasJoined { unclear.insert(id) }
          continue
        }
        guard index < known.count else {
          lost.append(JobReversal.Kept(id, .expired))
          continue
        }
        let former = Former(id: id, fingerprint: entry.fingerprint, values: known[index])
        note(former.values, of: id)
        if let obstacle = Self.obstacle(to: former) {
          lost.append(obstacle)
        } else if event == .updated {
          updated.append(former)
        } else {
          deleted.append(former)
        }
      }
    }
  }

  /// Why a row can't be as it was, whatever the store has.
  private static func obstacle(to former: Former) -> JobReversal.Kept? {
    for value in former.values {
      switch value.content {
      case .masked: return JobReversal.Kept(former.id, .expired, "its \(value.property) was replaced by a mask")
      case .gone(let entity):
        return JobReversal.Kept(
          former.id, .invalid, "its \(value.property) leads to \(entity), which isn't in the model any more")
      case .value(.object), .members, .order:
        if former.id.entity.propertiesByName[value.property] is RelationshipDescription { continue }
      case .value(.null):
        if former.id.entity.propertiesByName[value.property] != nil { continue }
      case .value:
        if former.id.entity.propertiesByName[value.property] is AttributeDescription { continue }
      }
      return JobReversal.Kept(former.id, .invalid, "its \(value.property) isn't in the model any more")
    }
    return nil
  }

  /// The former values of a save's rows, by the part. Those of a part that isn't whole any more are left out.
  private static func images(
    _ ofSave: FetchPredicate, in context: ManagedObjectContext
  ) throws -> [Int64: [[BeforeValue]]] {
    var images: [Int64: [[BeforeValue]]] = [:]
    let objects = try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.beforeEntity, predicate: ofSave,
        sortDescriptors: [FetchSortDescriptor("part"), FetchSortDescriptor("objectID")],
        includesPendingChanges: false))
    for object in objects {
      let part = object.number("part")
      let known = Int64(images[part]?.count ?? 0)
      // Those of inserted rows count from -1 downwards.
      let first = object.number("first")
      guard first == known || first == -1 - known else { continue }
      images[part, default: []] += try BeforeImages.read(
        object.data("images"), context.persistentStoreCoordinator)
    }
    return images
  }

  /// The ID of an entity's own object.
  private static func id(
    _ entity: String, _ number: Int64, _ coordinator: PersistentStoreCoordinator
  ) throws -> ManagedObjectID {
    let id = try coordinator.managedObjectID(entity: entity, number: number)
    return ManagedObjectID(
      scope: IDScope.of(id.entity, in: id.scope.storeIdentifier, isExact: true), number: number)
  }
}

extension RecordedRows.Former {
  /// Whether an object is again as it was before the job: an undo that was given up may have come to it.
  func isAgain(_ object: ManagedObject) -> Bool {
    values.allSatisfy { value in
      switch (value.content, object.entity.propertiesByName[value.property]) {
      case (.value(let old), let attribute as AttributeDescription): return object.slots[attribute.slot] == old
      case (.value(let old), let relationship as RelationshipDescription):
        return JobReversal.references(object.slots[relationship.slot]) == JobReversal.references(old)
      case (.members(let lost, let got), let relationship as RelationshipDescription):
        let held = Set(object.resolved(relationship).relatedIDs)
        return held.isSuperset(of: lost) && held.isDisjoint(with: got)
      case (.order(let order), let relationship as RelationshipDescription):
        let known = Set(order)
        return object.resolved(relationship).relatedIDs.filter(known.contains) == order
      default: return false
      }
    }
  }
}
