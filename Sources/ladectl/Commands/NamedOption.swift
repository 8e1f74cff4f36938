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
  /// the rest is text; a name that is there several times is a list of texts. Dots lead into it:
  /// `properties.born.date_format=dd.MM.yyyy`.
  static func values(_ options: [NamedOption]) -> [String: OptionValue] {
    let named = options.map { (path: $0.name.split(separator: ".", omittingEmptySubsequences: false)[...], $0.value) }
    return values(named)
  }

  private static func values(_ options: [(path: ArraySlice<Substring>, value: String)]) -> [String: OptionValue] {
    Dictionary(grouping: options) { String($0.path.first ?? "") }.mapValues { options in
      let inner = options.filter { $0.path.count > 1 }.map { ($0.path.dropFirst(), $0.value) }
      if !inner.isEmpty { return .map(values(inner)) }
      return options.count > 1 ? .list(options.map { .string($0.value) }) : single(options[0].value)
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
