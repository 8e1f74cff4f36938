import ManagedObjects

/// The values of a uniqueness constraint's attributes in one row, compared as a store compares them.
struct UniqueKey: Hashable {
  let values: [Value]

  init(_ values: [Value]) { self.values = values }

  /// Whether a part is missing. Such a key matches nothing, as in SQL.
  var isPartial: Bool { values.contains(.null) }
}
