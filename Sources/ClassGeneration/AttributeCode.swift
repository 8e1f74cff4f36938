import ManagedObjects

/// An attribute's type in Swift, and the code that reads and writes it.
struct AttributeCode {
  let type: String
  let get: String
  /// Uses `newValue`; nil for a derived attribute, which the store computes.
  let set: String?
  /// Whether the type's conformances are unknown.
  var isForeign = false

  /// Types whose accessors are methods, which `accessorType` and `accessorDefault` don't change.
  private static let fixed: Set<AttributeType> = [.transformable, .objectID, .composite, .undefined]

  /// Whether the user info asks for an accessor that the attribute can't have.
  static func ignoresUserInfo(_ attribute: AttributeDefinition) -> Bool {
    fixed.contains(attribute.type)
      && (attribute.userInfo["accessorType"] != nil || attribute.userInfo["accessorDefault"] != nil)
  }

  /// The accessor that the user info asks for: one of the type `accessorType`, which conforms to `AttributeValue`, and one
  /// that isn't optional but reads as `accessorDefault`, an expression, where the slot has no such value.
  private static func declared(
    _ attribute: AttributeDefinition, instead type: String, _ plain: String
  ) -> (type: String, get: String, set: String)? {
    let declared = attribute.userInfo["accessorType"]
    var fallback = attribute.userInfo["accessorDefault"]
    guard declared != nil || fallback != nil, !fixed.contains(attribute.type) else { return nil }
    if fallback == nil, attribute.usesScalarValueType, attribute.type != .date {
      fallback = attribute.type == .boolean ? "false" : "0"
    }
    let bare = declared ?? (type.hasSuffix("?") ? String(type.dropLast()) : type)
    return (bare + (fallback == nil ? "?" : ""), plain + (fallback.map { " ?? " + $0 } ?? ""), "\(plain) = newValue")
  }

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
    // The elements of a composite are initialised with nil, 0 or false, so theirs are Xcode's.
    let chosen = object == "self" ? Self.declared(attribute, instead: code.type, plain) ?? code : code
    type = chosen.type
    get = chosen.get
    set = attribute.derivationExpression == nil ? chosen.set : nil
  }
}
