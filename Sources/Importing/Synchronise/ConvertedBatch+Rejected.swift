import ManagedObjects

/// What rejected records are about: the source has them, though they can't be taken in as they are.
struct RejectedKeys {
  /// Their keys, with the place of the constraint in the mapping.
  private(set) var keys: [(place: Int, key: UniqueKey)] = []
  /// How many don't say which object they are about, and the line of the first.
  private(set) var unidentified: Int64 = 0
  private(set) var firstLine: Int64 = 0

  mutating func note(_ key: UniqueKey, _ place: Int) {
    // It is no object's.
    if !key.isPartial { keys.append((place, key)) }
  }

  mutating func noteUnidentified(line: Int64) {
    if unidentified == 0 || line < firstLine { firstLine = line }
    unidentified += 1
  }
}

extension ConvertedBatch {
  /// Notes what a record that can't be converted is about.
  func noteRejected(_ record: Int) {
    let place = mapping.constraints.firstIndex { constraint in
      constraint.columns.allSatisfy { source.cell(record, $0).kind != .missing }
    }
    guard source.problem(record) == nil, let place, let key = key(of: record, place) else {
      return rejectedKeys.noteUnidentified(line: source.line(record))
    }
    rejectedKeys.note(key, place)
  }

  /// The record's key, whatever the rest of it is; nil when it can't be converted.
  private func key(of record: Int, _ place: Int) -> UniqueKey? {
    var values: [Value] = []
    for attribute in mapping.constraints[place].attributes {
      let standard = mapping.rules.initialValues[attribute.slot]
      guard let target = mapping.attributes.first(where: { $0.slot == attribute.slot }) else {
        // The recipe gives it.
        values.append(standard)
        continue
      }
      guard case .success(let value) = convert(source.cell(record, target.column), target.converter) else { return nil }
      values.append(value.isNull && target.hasDefault ? standard : value)
    }
    return UniqueKey(values)
  }
}
