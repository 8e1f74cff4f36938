import Foundation
import Importing
import ManagedObjects

/// What a submission of kind `update` may say beside store and entity.
package struct UpdateOptions: OperationOptions, Equatable {
  /// A value as JSON has it; what it means is the attribute's to say.
  package enum Given: Codable, Sendable, Hashable {
    case null
    case bool(Bool)
    case number(String)
    case text(String)

    package init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let flag = try Self.attempt({ try value.decode(Bool.self) }) {
        self = .bool(flag)
      } else if let number = try Self.attempt({ try value.decode(Double.self) }) {
        // Whole numbers once more, exactly. Of 0.5 the decoder wouldn't say by an error of its own that it isn't one.
        let whole = number == number.rounded() && abs(number) < 9.2e18
        self = .number(whole ? String(try value.decode(Int64.self)) : number.description)
      } else {
        self = .text(try value.decode(String.self))
      }
    }

    /// nil for a value of another type, or one that the type can't hold.
    private static func attempt<T>(_ body: () throws -> T) throws -> T? {
      do {
        return try body()
      } catch DecodingError.typeMismatch, DecodingError.dataCorrupted {
        return nil
      }
    }

    package func encode(to encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      switch self {
      case .null: try value.encodeNil()
      case .bool(let flag): try value.encode(flag)
      case .number(let text):
        if let number = Int64(text) { try value.encode(number) } else { try value.encode(Double(text)) }
      case .text(let text): try value.encode(text)
      }
    }
  }

  /// Which objects, in the predicate language.
  package var predicate: String?
  /// Whether every object is meant; refused beside a predicate, needed without one.
  package var all = false
  /// The new values, by the names of attributes: as an import takes them (dates by ISO 8601, binary data by Base64; decimals
  /// of more than 15 digits as text), null for none. Needed.
  package var values: [String: Given] = [:]
  /// Objects that are changed by one save.
  package var batchSize = 2000
  /// Whether objects of entities that inherit from the entity are among them.
  package var subentities = true

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case predicate = "where", all, values = "set", batchSize = "batch_size", subentities
  }

  package init() {}

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    predicate = try values.decodeIfPresent(String.self, forKey: .predicate)
    all = try values.flag(.all) ?? all
    self.values = try values.decodeIfPresent([String: Given].self, forKey: .values) ?? self.values
    batchSize = try values.number(.batchSize, 1...100_000) ?? batchSize
    subentities = try values.flag(.subentities) ?? subentities
  }
}

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

  /// The value that an attribute takes for what was given.
  /// - Throws: ``JobFailure`` of the code `bad_options`.
  static func value(_ given: UpdateOptions.Given, of attribute: AttributeDescription) throws -> Value {
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
