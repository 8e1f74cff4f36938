import ManagedObjects

/// An attribute's type in Swift, and the code that reads and writes it.
struct AttributeCode {
  let type: String
  let get: String
  /// Uses `newValue`; nil for a derived attribute, which the store computes.
  let set: String?
  /// Whether the type's conformances are unknown.
  var isForeign = false

  /// - Parameters:
  ///   - object: the expression of the object that has the slot and the methods.
  ///   - slot: the slot, as an expression.
  init(_ attribute: AttributeDefinition, in object: String, slot: String, _ generator: ClassGenerator) {
    let call = object == "self" ? "" : object + "."
    let plain = "\(object)[\(slot)]"
    func swift(_ name: String, _ module: String = "Swift") -> String { generator.type(name, of: module) }
    func optional(_ type: String) -> (String, String, String) { (type + "?", plain, "\(plain) = newValue") }
    /// A non-optional number or boolean if the model asks for one.
    func scalar(_ name: String, _ zero: String) -> (String, String, String) {
      let type = swift(name)
      guard attribute.usesScalarValueType else { return optional(type) }
      return (type, "\(plain) ?? \(zero)", "\(plain) = newValue")
    }
    let code: (type: String, get: String, set: String)
    switch attribute.type {
    case .integer16: code = scalar("Int16", "0")
    case .integer32: code = scalar("Int32", "0")
    case .integer64: code = scalar("Int64", "0")
    case .double: code = scalar("Double", "0")
    case .float: code = scalar("Float", "0")
    case .boolean: code = scalar("Bool", "false")
    case .date where attribute.usesScalarValueType:
      let date = swift("Date", "Foundation")
      code = (
        swift("Double"), "(\(plain) as \(date)?)?.timeIntervalSinceReferenceDate ?? 0",
        "\(plain) = \(date)(timeIntervalSinceReferenceDate: newValue)"
      )
    case .string: code = optional(swift("String"))
    case .decimal: code = optional(swift("Decimal", "Foundation"))
    case .date: code = optional(swift("Date", "Foundation"))
    case .binaryData: code = optional(swift("Data", "Foundation"))
    case .uuid: code = optional(swift("UUID", "Foundation"))
    case .uri: code = optional(swift("URL", "Foundation"))
    case .transformable:
      if let declared = attribute.attributeValueClassName {
        let name = declared.hasPrefix(".") ? String(declared.dropFirst()) : declared
        code = (name + "?", "\(call)transformable(\(slot))", "\(call)setTransformable(newValue, \(slot))")
        isForeign = true
      } else {
        code = optional(swift("Data", "Foundation"))
      }
    case .objectID:
      code = (
        swift("ManagedObjectID", "ManagedObjects") + "?",
        "if case .object(let id) = \(call)value(at: \(slot)) { id } else { nil }",
        "\(call)setValue(newValue.map { .object($0) } ?? .null, at: \(slot))"
      )
    case .composite, .undefined: code = optional(swift("Value", "ManagedObjects"))
    }
    type = code.type
    get = code.get
    set = attribute.derivationExpression == nil ? code.set : nil
  }
}
