import ManagedObjects

// Where records refer to nothing, or by a key to objects that the store has, they are converted straight into flat memory:
// no value, no string and no array is made for them. Of a mode that only inserts nobody needs objects then. In modes that find
// objects by one key the rows are compared with the store's as they are, and objects are made of those that change something.

extension ConvertedBatch {
  /// Begins rows without objects, where there may be such; nil elsewhere.
  func makeNewRows(for coordinator: PersistentStoreCoordinator, isDirect: Bool) -> NewRows? {
    let entity = mapping.entity
    guard !entity.hasOwnClass, entity.validationRules.hasNoSets, mapping.collections.isEmpty, mapping.nesting.isEmpty,
      mapping.references.allSatisfy(isPlain)
    else { return nil }
    // Made of values, they are checked with these, or as objects.
    if !isDirect, !isChecked || !mapping.references.isEmpty { return nil }
    if mode.findsObjects, keySlot == nil { return nil }
    newKeys = mapping.references.map { _ in [] }
    let rows = NewRows(
      entity, of: coordinator, capacity: source.count, textCapacity: source.byteCount,
      initial: mapping.rules.initialValues)
    newRecords.reserveCapacity(source.count)
    newRows = rows
    return rows
  }

  /// Whether a reference is a key in a column of its own, and leads to objects of another kind: to those that the store has,
  /// so that a batch's rows don't depend on each other.
  private func isPlain(_ reference: RecordMapping.Reference) -> Bool {
    let relationship = reference.relationship
    let (entity, other) = (mapping.entity, relationship.destinationEntity)
    return reference.column != nil && reference.template == nil && reference.separator == nil
      && reference.constant == nil && reference.defaultKey == nil && !relationship.isTransient
      && entity.rootEntity !== other.rootEntity && relationship.inverseRelationship?.isOrdered != true
  }

  /// The one attribute that tells the entity's objects apart; nil when there are others, too, or it isn't a column's.
  var keySlot: Int? {
    let entity = mapping.entity
    guard mode != .replace, entity.superentity == nil, entity.subentities.isEmpty,
      entity.uniquenessConstraints.count == 1, mapping.constraints.count == 1,
      let constraint = mapping.constraints.first, constraint.attributes.count == 1, constraint.columns.count == 1
    else { return nil }
    return constraint.attributes.first?.slot
  }

  /// The slots in which a row may change its object.
  var comparedSlots: [Int] {
    Set(
      mapping.attributes.map(\.slot) + mapping.rules.constants.map(\.slot)
        + mapping.references.map(\.relationship.slot)
    ).sorted()
  }

  /// Makes ready what the rows are compared by, or turns them into such as objects are made of.
  func orderByKey() {
    guard let newRows else { return }
    guard mode.findsObjects else {
      if needsObjects, !mapping.references.isEmpty { makeRows() }
      return
    }
    guard !needsObjects, let slot = keySlot, let order = newRows.order(by: slot) else { return makeRows() }
    keyOrder = order
  }

  /// Turns the rows into such as objects are made of.
  func makeRows() {
    guard let newRows else { return }
    makeRows(of: Array(0..<newRows.count))
    self.newRows = nil
  }

  /// Turns some of the rows into such as objects are made of.
  func makeRows(of indices: [Int]) {
    rows.removeAll(keepingCapacity: true)
    guard let newRows, !indices.isEmpty else { return }
    rows.reserveCapacity(indices.count)
    for index in indices {
      var values = newRows.values(index)
      for reference in mapping.references {
        let slot = reference.relationship.slot
        values[slot] = mapping.rules.initialValues[slot]
      }
      rows.append(Row(record: newRecords[index], values: values, keys: newKeys.map { $0[index] }))
    }
  }

  /// Converts a record into the next of the rows, or into a rejection.
  func convert(_ record: Int, into rows: NewRows) {
    rows.beginRow()
    for target in mapping.attributes {
      let cell = source.cell(record, target.column)
      if cell.kind == .missing {
        // What an object has stays as it is where the record says nothing.
        needsObjects = true
        continue
      }
      do throws(ConversionCode) {
        try target.converter.convert(
          cell, source.bytes(of: cell), into: rows, target.slot, keepsNull: target.hasDefault)
      } catch {
        rejections.append(rejection(record, cell, target.converter, error))
        if mode == .synchronise { noteRejected(record) }
        return
      }
    }
    if !mapping.references.isEmpty, let failure = setKeys(record, in: rows) {
      rejections.append(failure)
      if mode == .synchronise { noteRejected(record) }
      return
    }
    mapping.entity.validationRules.check(rowBegunIn: rows, into: &failures)
    if let first = failures.first {
      failures.removeAll(keepingCapacity: true)
      guard mode.findsObjects else {
        return rejections.append(
          source.rejection(record, column: first.property, code: first.code, message: first.description))
      }
      // The object that it is about may have what the record lacks.
      needsObjects = true
    }
    rows.endRow()
    newRecords.append(record)
  }

  /// Notes the keys of a record's references.
  private func setKeys(_ record: Int, in rows: NewRows) -> Rejection? {
    for (place, reference) in mapping.references.enumerated() {
      // That of a record that was rejected afterwards.
      if newKeys[place].count > rows.count { newKeys[place].removeLast() }
      switch key(reference, record) {
      case .success(let key):
        // An object has what it has where the record says nothing.
        if key == .unresolved { needsObjects = true }
        if !key.isNull { rows.setReference(reference.relationship.slot) }
        newKeys[place].append(key)
      case .failure(let problem):
        for other in 0..<place { newKeys[other].removeLast() }
        return source.rejection(
          record, column: reference.relationship.name, code: problem.code, message: problem.message)
      }
    }
    return nil
  }
}
