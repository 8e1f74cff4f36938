import ManagedObjects

// Finding what a row refers to, before its object is touched.
extension RowApplier {
  /// Finds what the row refers to. False when it was rejected, or put off.
  func link(_ index: Int, _ row: ConvertedBatch.Row, _ known: ManagedObject?, _ change: inout RowChange) -> Bool {
    for (place, reference) in references.enumerated() {
      var key = row.keys[place]
      if key == .unresolved {
        // Only a new object takes the default of what its record doesn't say.
        guard known == nil, let given = reference.defaultKey,
          !row.nested.contains(where: { $0.link.relationship === reference.relationship })
        else { continue }
        key = given
      }
      if key.isNull {
        change.link(place, .nothing, reference)
      } else if let target = targets[place][key] {
        change.link(place, .object(target), reference)
      } else if isOwn[place], change.new[reference.key.slot] == key {
        change.link(place, known.map { .object($0.objectID) } ?? .itself, reference)
      } else if let made = reference.creates, !isOwn[place] || (phase == .atLast && reference.needsObject) {
        if let failure = made.failure(key) {
          rejectUnmade(index, place, failure)
          return false
        }
        change.link(place, .new(key), reference)
      } else if !reference.needsObject {
        change.link(place, .nothing, reference)
        change.missing.append((place, key))
      } else {
        putOff(index, place, key)
        return false
      }
    }
    return true
  }

  /// Has a row wait for an object that it needs and that a later row may be, or rejects it.
  private func putOff(_ index: Int, _ place: Int, _ key: Value) {
    guard isOwn[place], phase != .atLast else { return rejectLost(index, place, key) }
    deferred[place][key, default: []].append(index)
    putOff[index] = place
  }

  /// Finds what the row's to-many relationships are to hold. False when the row was rejected.
  func linkSets(
    _ index: Int, _ row: ConvertedBatch.Row, _ known: ManagedObject?, _ change: inout RowChange
  ) -> Bool {
    for (offset, list) in row.lists.enumerated() {
      guard let list else { continue }
      let place = references.count + offset
      let reference = ends[place]
      var set = RowChange.SetChange(place: place, keys: list)
      for key in list {
        if let target = targets[place][key] {
          set.targets.append(.object(target))
        } else if isOwn[place], change.new[reference.key.slot] == key {
          set.targets.append(known.map { .object($0.objectID) } ?? .itself)
        } else if let made = reference.creates, !isOwn[place] {
          if let failure = made.failure(key) {
            rejectUnmade(index, place, failure)
            return false
          }
          set.targets.append(.new(key))
        } else if reference.needsObject {
          putOff(index, place, key)
          return false
        } else {
          set.missing.append(key)
        }
      }
      change.set(
        set, reference.relationship,
        now: known?.resolved(reference.relationship) ?? reference.relationship.emptyValue)
    }
    return true
  }

  /// Has an object's to-many relationship hold what its row says.
  func hold(_ set: RowChange.SetChange, _ object: ManagedObject) throws {
    let ids = try set.targets.compactMap { target -> ManagedObjectID? in
      switch target {
      case .object(let id): id
      case .itself: object.objectID
      case .new(let key): try create(set.place, key)
      case .nothing: nil
      }
    }
    object.hold(ends[set.place].relationship, ids)
  }

  /// The object of a key that no object had when the batch began: made by the first row that refers to it.
  func create(_ place: Int, _ key: Value) throws -> ManagedObjectID? {
    if let known = targets[place][key] { return known }
    guard let made = ends[place].creates else { return nil }
    let id = try context.insert(made.entity, values: made.values(key)).objectID
    created.insert(id)
    tally.created[ends[place].relationship.name, default: 0] += 1
    for (other, reference) in ends.enumerated()
    where made.isFound(by: reference.relationship, reference.key) && targets[other][key] == nil {
      targets[other][key] = id
    }
    return id
  }

  func rejectKeyless(_ row: ConvertedBatch.Row) {
    let keys = entity.uniquenessConstraints.map { $0.map(\.name).joined(separator: "+") }.joined(separator: " or ")
    rejections.append(
      batch.rejection(
        row, code: "no_key", message: "the record doesn't say which \(entity.name) it is: it has no \(keys)"))
  }

  /// Of an update: there is nothing to update.
  func rejectUnknown(_ row: ConvertedBatch.Row, _ place: Int, _ key: UniqueKey) {
    let columns = batch.mapping.constraints[place].attributes.map(\.name).joined(separator: ", ")
    let text = key.values.map(\.plainText.shown).joined(separator: ", ")
    rejections.append(
      batch.rejection(
        row, column: columns, code: key.isPartial ? "no_key" : "no_such_object",
        message: key.isPartial
          ? "the record doesn't say which \(entity.name) it is: \(columns) is missing, or a part of it"
          : "there is no \(entity.name) with \(columns) “\(text)” to be updated"))
  }

  func rejectDuplicate(_ row: ConvertedBatch.Row, _ place: Int, _ values: ContiguousArray<Value>) {
    let attributes = batch.mapping.constraints[place].attributes
    rejections.append(batch.duplicate(row, attributes.map(\.name), values, entity))
  }

  func rejectUnmade(_ index: Int, _ place: Int, _ failure: ValidationFailure) {
    let relationship = ends[place].relationship
    rejections.append(
      batch.rejection(
        batch.rows[index], column: relationship.name, code: failure.code,
        message: "no \(relationship.destinationEntity.name) can be made for \(relationship.name): "
          + failure.description))
  }

  func rejectLost(_ index: Int, _ place: Int, _ key: Value) {
    let relationship = ends[place].relationship
    rejections.append(
      batch.rejection(
        batch.rows[index], column: relationship.name, code: "no_such_object",
        message: "there is no \(relationship.destinationEntity.name) with \(ends[place].key.name) "
          + "“\(key.plainText.shown)”, which \(relationship.name) needs"))
  }

  func rejectOvertaken(_ index: Int) {
    rejections.append(
      batch.rejection(
        batch.rows[index], code: "no_such_object",
        message:
          "an object that it refers to wasn't there before a later record of the same \(entity.name), which counts"))
  }
}
