import ManagedObjects

/// The values of a uniqueness constraint's attributes in one row, compared as a store compares them: texts by their
/// bytes, where Swift's own comparison takes different spellings of one letter for the same.
struct UniqueKey: Hashable {
  let values: [Value]

  init(_ values: [Value]) { self.values = values }

  /// Whether a part is missing. Such a key matches nothing, as in SQL.
  var isPartial: Bool { values.contains(.null) }

  static func == (a: UniqueKey, b: UniqueKey) -> Bool {
    a.values.count == b.values.count
      && zip(a.values, b.values).allSatisfy { first, second in
        if case .string(let one) = first, case .string(let other) = second { return one.utf8.elementsEqual(other.utf8) }
        return first == second
      }
  }

  func hash(into hasher: inout Hasher) {
    for value in values {
      if case .string(var text) = value {
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      } else {
        hasher.combine(value)
      }
    }
  }
}
