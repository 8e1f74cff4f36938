import Foundation
import ManagedObjects

@testable import Importing

/// Converts a text to every type, under a recipe's rules: a date format, separators, words. The rules are the input's
/// first line, with bars between, the text is the second. The same text must become the same value twice, a whole
/// number must be the one that is written, and a value must not be refused when it is written plainly.
final class ConversionTarget: FuzzTarget {
  private static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .string, .date, .binaryData, .uuid, .uri,
  ]
  /// Kept between inputs, unlike its content.
  private let model: ManagedObjectModel
  private let attributes: [AttributeDescription]

  init() throws {
    let definitions = Self.types.map { AttributeDefinition($0.rawValue.replacing(" ", with: ""), $0) }
    model = try ManagedObjectModel(entities: [EntityDefinition("E", attributes: definitions)])
    attributes = model.entities.first?.attributes ?? []
    guard attributes.count == Self.types.count else {
      throw BrokenPromise(description: "the model lost its attributes")
    }
  }

  func run(_ input: [UInt8]) throws {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let said = lines[0].split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map {
      $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self)
    }
    func part(_ index: Int) -> String? { index < said.count ? said[index] : nil }
    let text = Array(String(decoding: lines.count > 1 ? lines[1] : [], as: UTF8.self).utf8)
    for attribute in attributes {
      var rule = PropertyRule()
      switch attribute.type {
      case .date: (rule.dateFormat, rule.timeZone) = (part(0), part(4))
      case .decimal, .double, .float, .integer16, .integer32, .integer64:
        (rule.decimalSeparator, rule.groupingSeparator) = (part(1), part(2))
      case .boolean: rule.trueWords = part(3).map { [$0] }
      default: break
      }
      rule.nulls = part(5).map { [$0] }
      rule.trims = part(6) == nil ? nil : true
      do {
        try check(ValueConverter(attribute: attribute, rule: rule), text)
      } catch let error as ConverterError {
        _ = "\(error)"
      }
    }
  }

  private func check(_ converter: ValueConverter, _ text: [UInt8]) throws {
    let first = Self.convert(converter, text)
    guard first == Self.convert(converter, text) else {
      throw BrokenPromise(description: "a conversion isn't the same twice")
    }
    guard case .success(let value) = first, converter.rules == nil else { return }
    let isSound =
      switch value {
      case .int(let number): Self.convert(converter, Array("\(number)".utf8)) == first
      case .decimal(let number): Self.convert(converter, Array("\(number)".utf8)) == first
      case .double(let number): number.isFinite
      case .date(let date): date.timeIntervalSince1970.isFinite
      default: true
      }
    if !isSound { throw BrokenPromise(description: "\(converter.attribute.name) has the value \(value)") }
  }

  private static func convert(_ converter: ValueConverter, _ text: [UInt8]) -> Result<Value, ConversionCode> {
    text.withUnsafeBytes { bytes in
      do throws(ConversionCode) {
        return .success(try converter.convert(text: bytes))
      } catch {
        _ = converter.problem(error, text: bytes).description
        return .failure(error)
      }
    }
  }
}
