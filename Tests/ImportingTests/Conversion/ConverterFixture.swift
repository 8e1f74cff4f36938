import Foundation
import ManagedObjects

@testable import Importing

/// Converts single texts, each through a converter of its own.
enum ConverterFixture {
  /// The attribute of a model made for it.
  static func attribute(_ type: AttributeType, name: String = "a") throws -> AttributeDescription {
    let model = try ManagedObjectModel(
      entities: [EntityDefinition("E", attributes: [AttributeDefinition(name, type)])])
    guard let attribute = model.entities.first?.attributes.first else { throw CocoaError(.coderValueNotFound) }
    return attribute
  }

  static func converter(_ type: AttributeType, format: String? = nil) throws -> ValueConverter {
    try ValueConverter(attribute: attribute(type), dateFormat: format)
  }

  /// What a text becomes: a value, or the code it is refused with.
  static func text(_ text: String, _ type: AttributeType, format: String? = nil) throws -> Outcome {
    let converter = try converter(type, format: format)
    return Outcome { () throws(ConversionCode) in try bytes(text, converter.convert(text:)) }
  }

  /// What a JSON number becomes.
  static func number(_ text: String, _ type: AttributeType, format: String? = nil) throws -> Outcome {
    let converter = try converter(type, format: format)
    return Outcome { () throws(ConversionCode) in try bytes(text, converter.convert(number:)) }
  }

  /// What a text becomes under a recipe's rule.
  static func text(_ text: String, _ type: AttributeType, _ rule: PropertyRule) throws -> Outcome {
    let converter = try ValueConverter(attribute: attribute(type), rule: rule)
    return Outcome { () throws(ConversionCode) in try bytes(text, converter.convert(text:)) }
  }

  /// What a JSON number becomes under a recipe's rule.
  static func number(_ text: String, _ type: AttributeType, _ rule: PropertyRule) throws -> Outcome {
    let converter = try ValueConverter(attribute: attribute(type), rule: rule)
    return Outcome { () throws(ConversionCode) in try bytes(text, converter.convert(number:)) }
  }

  /// Calls `body` with the text's UTF-8.
  static func bytes<Answer, Failure: Error>(
    _ text: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    let result = Array(text.utf8).withUnsafeBytes { bytes -> Result<Answer, Failure> in
      do throws(Failure) {
        return .success(try body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

/// A value, or why there is none.
enum Outcome: Equatable {
  case value(Value)
  case refused(ConversionCode)

  init(_ body: () throws(ConversionCode) -> Value) {
    do throws(ConversionCode) {
      self = .value(try body())
    } catch {
      self = .refused(error)
    }
  }
}

extension PropertyRule {
  /// A rule of which some parts are said.
  init(_ say: (inout PropertyRule) -> Void) {
    self.init()
    say(&self)
  }
}

extension MappingOptions {
  /// A mapping of which some parts are said.
  init(_ say: (inout MappingOptions) -> Void) {
    self.init()
    say(&self)
  }
}
