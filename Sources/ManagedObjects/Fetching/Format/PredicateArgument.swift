import Foundation

/// The argument of a placeholder in a predicate format.
public enum PredicateArgument: Sendable, Hashable {
  /// One value; for `%K` a string with a key path.
  case value(Value)
  /// Several values, for `IN` and `BETWEEN`.
  case list([Value])

  /// Converts `any`: a ``Value``, String, Substring, integer, Double, Float, Bool, Decimal, Date, UUID,
  /// Data, URL, ``ManagedObjectID``, ``ManagedObject`` (its ID), ``EntityDescription`` (its name), nil, or an array or set of
  /// these. Nil for every other type.
  public init?(_ any: Any?) {
    guard let any, (any as? any AnyOptional)?.isNil != true else {
      self = .value(.null)
      return
    }
    if let argument = any as? PredicateArgument {
      self = argument
    } else if let value = Self.value(any) {
      self = .value(value)
    } else if let list = Self.elements(any) {
      var values: [Value] = []
      values.reserveCapacity(list.count)
      for element in list {
        guard case .value(let value)? = PredicateArgument(element) else { return nil }
        values.append(value)
      }
      self = .list(values)
    } else {
      return nil
    }
  }

  private static func value(_ any: Any) -> Value? {
    switch any {
    case let value as Value:
      if value.isSet { return nil }
      if case .composite = value { return nil }
      return value
    case let string as String: return .string(string)
    case let string as Substring: return .string(String(string))
    case let bool as Bool: return .bool(bool)
    case let double as Double: return .double(double)
    case let float as Float: return .double(Double(float))
    case let decimal as Decimal: return .decimal(decimal)
    case let integer as any BinaryInteger:
      if let small = Int64(exactly: integer) { return .int(small) }
      return Decimal(string: String(integer)).map(Value.decimal)
    case let date as Date: return .date(date)
    case let uuid as UUID: return .uuid(uuid)
    case let data as Data: return .data(data)
    case let url as URL: return .uri(url)
    case let id as ManagedObjectID: return .object(id)
    case let object as ManagedObject: return .object(object.objectID)
    case let entity as EntityDescription: return .string(entity.name)
    default: return nil
    }
  }

  private static func elements(_ any: Any) -> [Any?]? {
    switch any as? Value {
    case .objects(let ids): return Array(ids)
    case .orderedObjects(let ids): return Array(ids)
    default: break
    }
    if let array = any as? [Any?] { return array }
    return (any as? Set<AnyHashable>)?.map(\.base)
  }
}

/// An optional of any type, which may be wrapped in an `Any`.
private protocol AnyOptional {
  var isNil: Bool { get }
}

extension Optional: AnyOptional {
  fileprivate var isNil: Bool {
    if case .none = self { return true }
    return false
  }
}
