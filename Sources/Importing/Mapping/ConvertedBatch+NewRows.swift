import ManagedObjects

// Where every record becomes a new object that refers to nothing, and nobody needs the objects, records are converted straight
// into flat memory: no value, no string and no array is made for them.

extension ConvertedBatch {
  /// Begins rows without objects, where there may be such; nil elsewhere.
  func makeNewRows(for coordinator: PersistentStoreCoordinator) -> NewRows? {
    guard isChecked, mapping.isWithoutRelationships, !mapping.entity.hasOwnClass else { return nil }
    let rows = NewRows(
      mapping.entity, of: coordinator, capacity: source.count, textCapacity: source.byteCount,
      initial: mapping.rules.initialValues)
    newRecords.reserveCapacity(source.count)
    newRows = rows
    return rows
  }

  /// Turns the rows into such as objects are made of: these can be told apart when the store refuses some.
  func makeRows() {
    guard let newRows else { return }
    rows.reserveCapacity(newRows.count)
    for (index, record) in newRecords.enumerated() {
      rows.append(Row(record: record, values: newRows.values(index), keys: []))
    }
    self.newRows = nil
  }

  /// Converts a record into the next of the rows, or into a rejection.
  func convert(_ record: Int, into rows: NewRows) {
    rows.beginRow()
    for target in mapping.attributes {
      let cell = source.cell(record, target.column)
      do throws(ConversionCode) {
        try target.converter.convert(
          cell, source.bytes(of: cell), into: rows, target.slot, keepsNull: target.hasDefault)
      } catch {
        return rejections.append(rejection(record, cell, target.converter, error))
      }
    }
    mapping.entity.validationRules.check(rowBegunIn: rows, into: &failures)
    if let first = failures.first {
      rejections.append(
        source.rejection(record, column: first.property, code: first.code, message: first.description))
      return failures.removeAll(keepingCapacity: true)
    }
    rows.endRow()
    newRecords.append(record)
  }
}
