import FoundationEssentials

/// Why a job's options don't fit the type that its operation reads them as. Trying again doesn't help.
public struct JobOptionsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// How each such message begins.
  package static let opening = "the job's options can't be followed: "

  /// Which option it is, and what it must be.
  public let reason: String

  package init(_ reason: String) { self.reason = reason }

  /// What is wrong with the options.
  public var description: String { Self.opening + reason }

  /// Decodes options.
  static func decode<T: Decodable>(_ type: T.Type, from json: String) throws(JobOptionsError) -> T {
    do {
      return try JSONDecoder().decode(type, from: Data(json.utf8))
    } catch let error as DecodingError {
      throw JobOptionsError(error.inWords + given(in: json, besides: error))
    } catch {
      throw JobOptionsError("\(error)")
    }
  }

  /// What the options have, where one is missing: it may be misspelt.
  private static func given(in json: String, besides error: DecodingError) -> String {
    guard case .keyNotFound(_, let context) = error, context.codingPath.isEmpty else { return "" }
    do {
      let names = try JSONDecoder().decode([String: OptionValue].self, from: Data(json.utf8)).keys.sorted()
      return names.isEmpty ? "; none is given" : "; given: \(names.joined(separator: ", "))"
    } catch {
      // Not an object: the error says so.
      return ""
    }
  }
}

extension DecodingError {
  /// The error in one line: which value it is about, and what that must be.
  package var inWords: String {
    func place(_ context: Context) -> String {
      context.codingPath.isEmpty ? "" : context.codingPath.map(\.stringValue).joined(separator: ".") + ": "
    }
    switch self {
    case .typeMismatch(let type, let context): return place(context) + "it must be \(Self.words(for: type))"
    case .valueNotFound(let type, let context):
      return place(context) + "it must be \(Self.words(for: type)), and is null"
    case .keyNotFound(let key, let context):
      // A type that decodes itself may say it better than the decoder.
      return place(context)
        + (context.debugDescription.hasPrefix("No value associated with key")
          ? "there is no \(key.stringValue), which is needed" : context.debugDescription)
    case .dataCorrupted(let context): return place(context) + context.debugDescription
    @unknown default: return "\(self)"
    }
  }

  private static func words(for type: any Any.Type) -> String {
    switch type {
    case is String.Type: return "a text"
    case is Bool.Type: return "true or false"
    case is any BinaryInteger.Type: return "a whole number"
    case is any BinaryFloatingPoint.Type: return "a number"
    default:
      let name = "\(type)"
      if name.hasPrefix("Array<") { return "a list" }
      return name.hasPrefix("Dictionary<") ? "an object of names and values" : name
    }
  }
}
