import Foundation
import Importing

/// An operation's own options: what a submission says in its JSON. Every key may be left out; one that isn't known is
/// refused, for it would do nothing.
package protocol OperationOptions: Codable, Sendable {
  associatedtype CodingKeys: CodingKey & CaseIterable
}

extension OperationOptions {
  /// Reads a JSON object.
  /// - Throws: ``JobFailure`` of the code `bad_options`, which names the key and what it can be.
  package static func read(_ submission: JobSubmission) throws -> Self { try read(submission.encodedOptions()) }

  /// Reads a JSON object.
  /// - Throws: as ``read(_:)-(JobSubmission)``.
  package static func read(_ json: String) throws -> Self {
    let known = CodingKeys.allCases.map(\.stringValue).sorted()
    do {
      let unknown = try JSONDecoder().decode(Keys.self, from: Data(json.utf8)).names.filter { !known.contains($0) }
      guard unknown.isEmpty else {
        throw bad(
          "there is no option \(unknown.sorted().joined(separator: ", ")); "
            + (known.isEmpty ? "there are none" : "there are \(known.joined(separator: ", "))"))
      }
      return try JSONDecoder().decode(Self.self, from: Data(json.utf8))
    } catch let error as DecodingError {
      throw bad(error.inWords)
    }
  }

  /// The failure of options that can't be followed.
  package static func bad(_ reason: String) -> JobFailure {
    JobFailure(code: "bad_options", message: JobOptionsError.opening + reason, isRetryable: false)
  }
}

extension ImportOptions: OperationOptions {}

extension KeyedDecodingContainer {
  /// One of several words; nil when it isn't given.
  func decodeWord<T: RawRepresentable & CaseIterable>(_ type: T.Type, forKey key: Key) throws -> T?
  where T.RawValue == String {
    guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
    if let word = T(rawValue: text) { return word }
    let known = T.allCases.map(\.rawValue).joined(separator: ", ")
    throw DecodingError.dataCorruptedError(
      forKey: key, in: self, debugDescription: "there is no \(text); there are \(known)")
  }
}

/// The keys of a JSON object.
private struct Keys: Decodable {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  let names: [String]

  init(from decoder: any Decoder) throws {
    names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
  }
}

/// Several names in an option: a list, or a text with commas between them, as a command line has it.
package struct ListOption: Codable, Sendable, Hashable, ExpressibleByArrayLiteral {
  package var names: [String]

  package init(arrayLiteral names: String...) { self.names = names }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      names = try container.decode([String].self)
    } catch DecodingError.typeMismatch {
      names = try container.decode(String.self).split(separator: ",").map { part in
        String(part.drop { $0 == " " })
      }
    }
    guard !names.contains("") else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "one of the names is empty")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(names)
  }
}

extension KeyedDecodingContainer {
  /// A whole number in bounds, which a command line gives as a text.
  func number(_ key: Key, _ bounds: ClosedRange<Int>) throws -> Int? {
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    var number: Int?
    do {
      number = try decode(Int.self, forKey: key)
    } catch DecodingError.typeMismatch {
      number = Int(try decode(String.self, forKey: key))
    }
    guard let number, bounds.contains(number) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self,
        debugDescription: bounds.upperBound == .max
          ? "it must be a whole number from \(bounds.lowerBound) on"
          : "it must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
    }
    return number
  }

  /// True or false, which a command line gives as a text.
  func flag(_ key: Key) throws -> Bool? {
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    do {
      return try decode(Bool.self, forKey: key)
    } catch DecodingError.typeMismatch {
      switch try decode(String.self, forKey: key) {
      case "true": return true
      case "false": return false
      default:
        throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "it must be true or false")
      }
    }
  }

  /// One of several words.
  func word<Word: RawRepresentable & CaseIterable>(_ type: Word.Type, _ key: Key) throws -> Word?
  where Word.RawValue == String {
    guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
    guard let word = Word(rawValue: text) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self,
        debugDescription: "there is no \(text); there are \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return word
  }
}
