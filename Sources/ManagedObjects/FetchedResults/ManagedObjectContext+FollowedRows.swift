extension ManagedObjectContext {
  /// The object of a row from a save or the store: the registered one, which keeps its values unless it is a fault, or a new
  /// one.
  func object(from row: StoreRow) -> ManagedObject {
    takePromotedIDs()
    if let known = registry.object(with: row.id) {
      if known.isUnfilled, known.state == .clean {
        known.slots = row.asRead
        known.isUnfilled = false
        if known.entity.hasOwnClass {
          known.committed = []
          callbacks.awakeFromFetch(known)
        }
      }
      return known
    }
    let object = make(StoreRow(id: row.id, values: row.asRead), state: .clean, isFault: false)
    if object.entity.hasOwnClass { callbacks.awakeFromFetch(object) }
    return object
  }

  /// The objects that `objects` lead to by each route, filled from `rows` where possible, the others from the store with one
  /// read for each step. The caller has to hold them.
  func objects(
    along routes: [[RelationshipDescription]], from objects: [ManagedObject], _ rows: [ManagedObjectID: StoreRow]
  ) -> [ManagedObject] {
    var held: [ManagedObject] = []
    for route in routes {
      var level = objects
      for relationship in route {
        var targets: Set<ManagedObjectID> = []
        for object in level where !object.isUnfilled {
          if case .object(let id) = object.slots[relationship.slot] { targets.insert(id) }
        }
        let unread = targets.filter { registeredObject(for: $0)?.isUnfilled ?? true }
        held += unread.compactMap { rows[$0] }.map { self.object(from: $0) }
        let missing = unread.filter { rows[$0] == nil }
        if !missing.isEmpty, let read = reading({ try source.rows(with: Array(missing)) }) {
          held += read.map { self.object(from: $0) }
        }
        level = targets.compactMap { registeredObject(for: $0) }
      }
    }
    return held
  }
}

extension StoreRow {
  /// The row's values as a fetch would bring them. A save also has its context's sets and transient values.
  fileprivate var asRead: ContiguousArray<Value> {
    var values = values
    for property in id.entity.properties {
      if property.isTransient {
        values[property.slot] = id.entity.initialValues[property.slot]
      } else if let relationship = property as? RelationshipDescription, relationship.isToMany {
        values[property.slot] = .unresolved
      }
    }
    return values
  }
}

/// A row by itself, for predicates and sorts that need nothing else.
struct PlainRow: PredicateSubject {
  let row: StoreRow

  var subjectID: ManagedObjectID { row.id }
  func value(inSlot slot: Int) -> Value { row.values[slot] }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? { nil }
  func subjects(inSlot slot: Int) -> [any PredicateSubject] { [] }
}
