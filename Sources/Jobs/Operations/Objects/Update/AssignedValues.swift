import Foundation
import Importing
import ManagedObjects

/// Values for attributes, of the types that the model says.
struct AssignedValues {
  private let values: [(slot: Int, value: Value)]

  /// - Throws: ``JobFailure`` of the code `bad_options` for a name that isn't an attribute's, and for a value that it can't
  ///   have.
  init(_ given: [String: UpdateOptions.Given], of entity: EntityDescription) throws {
    guard !given.isEmpty else {
      throw UpdateOptions.bad(
        "set gives no values: name attributes and their new values, as set: {\"state\": \"sold\"}")
    }
    values = try given.sorted { $0.key < $1.key }.map { name, given in
      let attribute = try Self.attribute(name, of: entity)
      let value = try Self.value(given, of: attribute)
      if value.isNull, !attribute.isOptional {
        throw UpdateOptions.bad("\(entity.name).\(name) is required, and can't be null")
      }
      return (attribute.slot, value)
    }
  }

  /// Whether that changes the object. What is so already stays untouched.
  func assign(to object: ManagedObject) -> Bool {
    var isChanged = false
    for (slot, value) in values where !object.value(at: slot).isStoredAlike(value) {
      object.setValue(value, at: slot)
      isChanged = true
    }
    return isChanged
  }

  private static func attribute(_ name: String, of entity: EntityDescription) throws -> AttributeDescription {
    guard let property = entity.propertiesByName[name] else {
      if let composite = entity.compositeAttributesByName[name] {
        throw UpdateOptions.bad(
          "\(name) is made of others: name \(composite.attributes.map(\.name).joined(separator: ", "))")
      }
      let known = entity.attributes.map(\.name)
      let nearest = NearestName.of(name, among: known).map { "did you mean \($0)?" }
      throw UpdateOptions.bad(
        "\(entity.name) has no attribute \(name.prefix(80)): \(nearest ?? "it has \(known.joined(separator: ", "))")")
    }
    guard let attribute = property as? AttributeDescription else {
      throw UpdateOptions.bad("\(name) is a relationship; attributes can be set")
    }
    guard !attribute.isTransient, !attribute.isDerived else {
      throw UpdateOptions.bad("\(name) is \(attribute.isTransient ? "transient" : "derived") and can't be set")
    }
    guard attribute !== entity.primaryKey else {
      throw UpdateOptions.bad("\(name) numbers the objects, and can't be changed")
    }
    return attribute
  }

  private static func value(_ given: UpdateOptions.Given, of attribute: AttributeDescription) throws -> Value {
    let converter = try ValueConverter(attribute: attribute, dateFormat: nil, emptyStringIsNull: false)
    var text = ""
    do throws(ConversionCode) {
      switch given {
      case .null: return .null
      case .bool(let flag):
        text = flag ? "true" : "false"
        return try converter.convert(bool: flag)
      case .number(let number):
        text = number
        return try converted(&text) { (bytes) throws(ConversionCode) in try converter.convert(number: bytes) }
      case .text(let string):
        text = string
        return try converted(&text) { (bytes) throws(ConversionCode) in try converter.convert(text: bytes) }
      }
    } catch {
      let problem = text.withUTF8 { converter.problem(error, text: UnsafeRawBufferPointer($0)) }
      throw UpdateOptions.bad("set: \(problem)")
    }
  }

  private static func converted(
    _ text: inout String, _ body: (UnsafeRawBufferPointer) throws(ConversionCode) -> Value
  ) throws(ConversionCode) -> Value {
    try text.withUTF8 { bytes -> Result<Value, ConversionCode> in
      do throws(ConversionCode) {
        return .success(try body(UnsafeRawBufferPointer(bytes)))
      } catch {
        return .failure(error)
      }
    }.get()
  }
}
