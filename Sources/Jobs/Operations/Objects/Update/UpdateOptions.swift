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
