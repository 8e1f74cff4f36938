import ManagedObjects

// Nested objects of a row: worked out with the row, before anything is touched, and carried out with it.
extension RowApplier {
  /// Finds what the nested objects of the batch's rows are in the store. Returns the relationships that have some.
  func lookUpNested(_ resolver: ReferenceResolver) throws -> Set<String> {
    guard !batch.mapping.nesting.isEmpty, batch.rows.contains(where: { !$0.nested.isEmpty }) else { return [] }
    let nested = NestedApplier(context, resolver)
    try nested.lookUp(batch.rows.lazy.flatMap { $0.nested.map(\.link) })
    self.nested = nested
    return Set(batch.rows.lazy.flatMap { $0.nested.filter(\.link.hasObjects).map(\.link.relationship.name) })
  }

  /// Works out what the row's nested objects become. False when the row was rejected.
  func linkNested(_ row: ConvertedBatch.Row, _ known: ManagedObject?, _ change: inout RowChange) throws -> Bool {
    guard let nested else { return true }
    for item in row.nested {
      do {
        let targets = try nested.plan(item.link, of: known, at: item.link.relationship.name)
        change.nest(item.link, targets, of: known)
      } catch let problem as NestedApplier.Problem {
        rejections.append(batch.rejection(row, column: problem.path, code: problem.code, message: problem.message))
        return false
      }
    }
    return true
  }

  /// Makes and changes the row's nested objects, and lets the rows after it find them.
  func carryOutNested(_ index: Int, _ object: ManagedObject, _ change: RowChange) throws {
    guard let nested, !change.nested.isEmpty else { return }
    for (link, targets) in change.nested { try nested.hold(targets, link, object) }
    for item in nested.made {
      created.insert(item.object.objectID)
      tally.created[item.relationship, default: 0] += 1
    }
    nested.made.removeAll()
    for item in nested.touched {
      nestedRows[item.object.objectID] = index
      if item.object.entity.isKindOf(entity) { existing?.note(item.object, formerly: item.former) }
      noteTargets(item.object, formerly: item.former)
    }
    nested.touched.removeAll()
  }

  /// Lets rows after it find an object by its keys, as they are now.
  func noteTargets(_ object: ManagedObject, formerly former: ContiguousArray<Value>?) {
    for (place, reference) in ends.enumerated()
    where object.entity.isKindOf(reference.relationship.destinationEntity) {
      let old = former?[reference.key.slot] ?? .null
      let new = object.value(at: reference.key.slot)
      if old == new, mode != .replace { continue }
      if !old.isNull, targets[place][old] == object.objectID { targets[place][old] = nil }
      guard !new.isNull, targets[place][new] == nil else { continue }
      targets[place][new] = object.objectID
      if let rows = deferred[place].removeValue(forKey: new) { ready += rows }
    }
  }
}
