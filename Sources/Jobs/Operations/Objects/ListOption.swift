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
