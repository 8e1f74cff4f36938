import ArgumentParser
import ControlAPI
import Importing
import ManagedObjects

/// `name=value` on the command line, for one of a job's options.
struct NamedOption: Sendable, Hashable {
  let name: String
  let value: String

  /// Parses it.
  /// - Throws: `ValidationError` if there is no name or no equals sign.
  init(parsing text: String) throws {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw ValidationError("'\(text)' isn't name=value.")
    }
    name = String(text[..<equals])
    value = String(text[text.index(after: equals)...])
  }

  /// All options by name. `true` and `false` are Booleans, canonical whole numbers are numbers, everything else is a string; a
  /// repeated name is a list of strings. Dots nest:
  /// `properties.born.date_format=dd.MM.yyyy`.
  /// - Throws: `ValidationError` for a name that has both a value and nested names.
  static func values(_ options: [NamedOption]) throws -> [String: OptionValue] {
    try values(options.map { (path: $0.path[...], $0.value) }, under: "")
  }

  /// The names between dots. A property's name may contain dots, as an element of a composite does
  /// (`properties.address.street.column`) and a property of one entity of a feed; so may a string that stands for a value
  /// (`properties.sex.values.N.N.=none`).
  private var path: [String] {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 2, parts[0] == ImportOptionKey.properties.rawValue else { return parts }
    func joined(_ range: Range<Int>) -> String { parts[range].joined(separator: ".") }
    let values = PropertyRuleKey.values.rawValue
    if let place = parts[2..<(parts.count - 1)].firstIndex(of: values) {
      return [parts[0], joined(1..<place), values, joined((place + 1)..<parts.count)]
    }
    let known = PropertyRuleKey.allCases.map(\.rawValue)
    // The daemon reports misspelt keys.
    guard let last = parts.last, known.contains(last) || NearestName.of(last, among: known) != nil else {
      return [parts[0], joined(1..<parts.count)]
    }
    return [parts[0], joined(1..<(parts.count - 1)), last]
  }

  private static func values(
    _ options: [(path: ArraySlice<String>, value: String)], under parent: String
  ) throws -> [String: OptionValue] {
    var values: [String: OptionValue] = [:]
    for (name, options) in Dictionary(grouping: options, by: { $0.path.first ?? "" }) {
      let inner = options.filter { $0.path.count > 1 }.map { ($0.path.dropFirst(), $0.value) }
      if inner.isEmpty {
        values[name] = options.count > 1 ? .list(options.map { .string($0.value) }) : single(options[0].value)
      } else if inner.count == options.count {
        values[name] = .map(try Self.values(inner, under: parent + name + "."))
      } else {
        let whole = parent + name
        throw ValidationError("'\(whole)' is given both a value and, by '\(whole).…', values in it.")
      }
    }
    return values
  }

  private static func single(_ text: String) -> OptionValue {
    switch text {
    case "true": return .bool(true)
    case "false": return .bool(false)
    default:
      // 007 and +1 are strings: as numbers they would change.
      if let number = Int(text), String(number) == text { return .int(number) }
      return .string(text)
    }
  }
}
