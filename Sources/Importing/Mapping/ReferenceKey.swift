import ManagedObjects

/// By what a relationship's objects are found: an attribute of the destination, or several together.
///
/// The key of one attribute is its value. The key of several is one value, too: a text of their texts, each with its length
/// in front, as in `3:JFK20:2013-01-01T06:00:00Z`. If a part is null, the whole key is.
struct ReferenceKey {
  let attributes: [AttributeDescription]
  /// Read the parts of a key of several attributes; empty for one.
  private let converters: [ValueConverter]

  init(_ attribute: AttributeDescription) {
    attributes = [attribute]
    converters = []
  }

  /// The key of several attributes.
  init(compound attributes: [AttributeDescription]) throws(ConverterError) {
    self.attributes = attributes
    var converters: [ValueConverter] = []
    for attribute in attributes { converters.append(try ValueConverter(attribute: attribute, dateFormat: nil)) }
    self.converters = converters
  }

  var isCompound: Bool { attributes.count > 1 }

  /// How messages name it.
  var name: String { attributes.map(\.name).joined(separator: ", ") }

  // MARK: Keys of rows

  /// The key of an object with these values.
  func key(of values: ContiguousArray<Value>) -> Value {
    isCompound ? key(attributes.map { values[$0.slot] }) : values[attributes[0].slot]
  }

  func key(of object: ManagedObject) -> Value {
    isCompound ? key(attributes.map { object.value(at: $0.slot) }) : object.value(at: attributes[0].slot)
  }

  /// The key that values of the attributes make.
  func key(_ parts: [Value]) -> Value {
    if !isCompound { return parts[0] }
    if parts.contains(.null) { return .null }
    var text = ""
    for part in parts {
      let plain = part.plainText
      text += "\(plain.utf8.count):\(plain)"
    }
    return .string(text)
  }

  /// Whether an object's key changes when these slots do.
  func isChanged(by slots: [Int]) -> Bool { attributes.contains { slots.contains($0.slot) } }

  // MARK: Parts of keys

  /// The values that make a key; nil if it is none of this model.
  func parts(of key: Value) -> [Value]? {
    if !isCompound { return [key] }
    let texts = texts(of: key)
    guard texts.count == converters.count else { return nil }
    var parts: [Value] = []
    for (converter, text) in zip(converters, texts) {
      var text = text
      let value = text.withUTF8 { bytes -> Value in
        do {
          return try converter.convert(text: UnsafeRawBufferPointer(bytes))
        } catch {
          // It was a value of the attribute when it was kept. If the model has changed, no object has this key.
          return .null
        }
      }
      if value.isNull { return nil }
      parts.append(value)
    }
    return parts
  }

  /// How messages show a key.
  func shown(_ key: Value) -> String { texts(of: key).map(\.shown).joined(separator: ", ") }

  private func texts(of key: Value) -> [String] {
    guard isCompound, case .string(let whole) = key else { return [key.plainText] }
    var texts: [String] = []
    var rest = whole.utf8[...]
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")),
      let count = Int(String(decoding: rest[..<colon], as: UTF8.self)), count >= 0
    {
      let begin = rest.index(after: colon)
      guard let end = rest.index(begin, offsetBy: count, limitedBy: rest.endIndex) else { break }
      texts.append(String(decoding: rest[begin..<end], as: UTF8.self))
      rest = rest[end...]
    }
    return texts
  }

  // MARK: Finding

  /// Conditions that together find the objects with these keys, and few others.
  func predicates(_ keys: ArraySlice<Value>) -> [FetchPredicate] {
    if !isCompound { return [.isIn(attributes[0].name, Array(keys))] }
    return UniqueKey.predicates(attributes, Set(keys.compactMap { parts(of: $0).map(UniqueKey.init) }))
  }
}
