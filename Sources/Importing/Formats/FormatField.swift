/// A field of ``ReaderOptions`` that a format declares: its name in stored options, and its default.
struct FormatField<Value: Codable & Hashable & Sendable>: Sendable {
  let name: String
  let defaultValue: Value
  /// What null stands for in stored options.
  private let nullValue: Value
  /// Whether stored options have it even when it is the default.
  private let isAlwaysStored: Bool

  init(_ name: String, default value: Value, isAlwaysStored: Bool = false) {
    self.name = name
    self.isAlwaysStored = isAlwaysStored
    defaultValue = value
    nullValue = value
  }

  /// A field whose null is nil, whatever the default.
  init<Wrapped>(optional name: String, default value: Value = nil, isAlwaysStored: Bool = false)
  where Value == Wrapped? {
    self.name = name
    self.isAlwaysStored = isAlwaysStored
    defaultValue = value
    nullValue = nil
  }
}

/// A field of any type, as stored options have it.
protocol FormatFieldCoding: Sendable {
  var name: String { get }
  func encode(_ options: ReaderOptions, into values: inout KeyedEncodingContainer<FormatFieldName>) throws
  func decode(from values: KeyedDecodingContainer<FormatFieldName>, into options: inout ReaderOptions) throws
}

extension FormatField: FormatFieldCoding {
  func encode(_ options: ReaderOptions, into values: inout KeyedEncodingContainer<FormatFieldName>) throws {
    let value = options[self]
    if isAlwaysStored || value != defaultValue { try values.encode(value, forKey: FormatFieldName(stringValue: name)) }
  }

  func decode(from values: KeyedDecodingContainer<FormatFieldName>, into options: inout ReaderOptions) throws {
    let key = FormatFieldName(stringValue: name)
    guard values.contains(key) else { return }
    options[self] = try values.decodeNil(forKey: key) ? nullValue : values.decode(Value.self, forKey: key)
  }
}

/// The name of a field as a coding key.
struct FormatFieldName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// Values of fields by name.
struct FormatValues: Sendable, Hashable {
  private var values: [String: any FormatValue] = [:]

  subscript<Value: Hashable & Sendable>(name: String) -> Value? {
    get { (values[name] as? TypedValue<Value>)?.value }
    set { values[name] = newValue.map { TypedValue(value: $0) } }
  }

  static func == (one: FormatValues, other: FormatValues) -> Bool {
    one.values.count == other.values.count
      && one.values.allSatisfy { name, value in other.values[name].map { value.equals($0) } ?? false }
  }

  func hash(into hasher: inout Hasher) {
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      hasher.combine(name)
      value.hash(into: &hasher)
    }
  }
}

/// A value of any type. Boxed as a whole: a cast from `Any` would take an optional apart.
private protocol FormatValue: Sendable {
  func equals(_ other: any FormatValue) -> Bool
  func hash(into hasher: inout Hasher)
}

private struct TypedValue<Value: Hashable & Sendable>: FormatValue, Hashable {
  let value: Value

  func equals(_ other: any FormatValue) -> Bool { (other as? Self) == self }
}
