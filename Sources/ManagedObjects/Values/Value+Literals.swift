// Literals are values, so that `setValue("Ada", forKey: "name")` reads as in Core Data. A literal `nil` is no value.

extension Value: ExpressibleByNilLiteral {
  /// No value.
  public init(nilLiteral: ()) { self = .null }
}

extension Value: ExpressibleByBooleanLiteral {
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension Value: ExpressibleByIntegerLiteral {
  /// An integer.
  public init(integerLiteral value: Int64) { self = .int(value) }
}

extension Value: ExpressibleByFloatLiteral {
  /// A double.
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension Value: ExpressibleByStringInterpolation {
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension Value: ExpressibleByDictionaryLiteral {
  /// The values of a composite attribute's elements. The last of several values with one name counts.
  public init(dictionaryLiteral elements: (String, Value)...) {
    self = .composite(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}

extension Value {
  /// The same number in another numeric type, or as a boolean, if nothing is lost; any other value as it is. A literal doesn't
  /// know the attribute that it is for: `3` may be meant for a double.
  func exactly(as type: AttributeType) -> Value {
    if fits(type) { return self }
    let converted: Value
    switch (self, type) {
    case (.int(let number), .boolean) where number != 0 && number != 1: return self
    case (.int, _), (.double, .decimal), (.double, .integer16), (.double, .integer32), (.double, .integer64),
      (.decimal, _):
      converted = self.converted(to: type)
    default: return self
    }
    guard !converted.isNull, let before = Number(self), let after = Number(converted) else { return self }
    return before.decimal == after.decimal ? converted : self
  }
}
