import ArgumentParser
import ControlAPI

/// `name=value` on the command line, for one of a job's options.
struct NamedOption: Sendable, Hashable {
  let name: String
  let value: String

  /// Reads it.
  /// - Throws: `ValidationError` when there is no name or no equals sign.
  init(parsing text: String) throws {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw ValidationError("'\(text)' isn't name=value.")
    }
    name = String(text[..<equals])
    value = String(text[text.index(after: equals)...])
  }

  /// All of them by name. `true` and `false` are Booleans, whole numbers as they are usually written are numbers, and
  /// the rest is text; a name that is there several times is a list of texts.
  static func values(_ options: [NamedOption]) -> [String: OptionValue] {
    Dictionary(grouping: options, by: \.name).mapValues { named in
      named.count > 1 ? .strings(named.map(\.value)) : single(named[0].value)
    }
  }

  private static func single(_ text: String) -> OptionValue {
    switch text {
    case "true": return .bool(true)
    case "false": return .bool(false)
    default:
      // 007 and +1 are texts: as numbers they would come out otherwise.
      if let number = Int(text), String(number) == text { return .int(number) }
      return .string(text)
    }
  }
}
