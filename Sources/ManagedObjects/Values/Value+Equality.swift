// Values are equal when a store treats them as equal; strings compare by their bytes. Swift's own comparison equates
// different encodings of one character (é as one scalar, or as e and an accent). With it, an object would keep an encoding
// that was meant to be replaced, and would match in memory a key that the store doesn't have.

extension Value {
  /// Whether two values are the same. Strings compare by their bytes.
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null), (.unresolved, .unresolved): return true
    case (.string(let a), .string(let b)): return UTF8Order.areEqual(a, b)
    case (.int(let a), .int(let b)): return a == b
    case (.object(let a), .object(let b)): return a == b
    case (.bool(let a), .bool(let b)): return a == b
    case (.double(let a), .double(let b)): return a == b
    case (.date(let a), .date(let b)): return a == b
    case (.decimal(let a), .decimal(let b)): return a == b
    case (.data(let a), .data(let b)): return a == b
    case (.uuid(let a), .uuid(let b)): return a == b
    case (.uri(let a), .uri(let b)): return a == b
    case (.objects(let a), .objects(let b)): return a == b
    case (.orderedObjects(let a), .orderedObjects(let b)): return a == b
    case (.composite(let a), .composite(let b)): return a == b
    default: return false
    }
  }

  /// Hashes the value; strings by their bytes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .unresolved: hasher.combine(1)
    case .string(var text):
      hasher.combine(2)
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .int(let number): hasher.combine(number)
    case .object(let id): hasher.combine(id)
    case .bool(let flag): hasher.combine(flag)
    case .double(let number): hasher.combine(number)
    case .date(let date): hasher.combine(date)
    case .decimal(let number): hasher.combine(number)
    case .data(let data): hasher.combine(data)
    case .uuid(let uuid): hasher.combine(uuid)
    case .uri(let uri): hasher.combine(uri)
    case .objects(let ids): hasher.combine(ids)
    case .orderedObjects(let ids): hasher.combine(ids)
    case .composite(let values): hasher.combine(values)
    }
  }
}
