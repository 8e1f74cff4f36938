import ControlAPI
import Importing

/// The options of a ticket or a submission, which go before the recipe's: the same keys as a recipe has, read as a recipe's are,
/// but for what only the operator may say.
struct SubmissionOptions {
  private static let keys = ImportOptionKey.allCases.filter { !$0.isOperators }.map(\.rawValue)
  private let options: [String: OptionValue]

  init(_ options: [String: OptionValue]) { self.options = options }

  /// - Throws: ``SubmissionProblem``.
  func apply(to target: inout ImportOptions) throws {
    guard !options.isEmpty else { return }
    if let key = options.keys.sorted().first(where: { ImportOptionKey(rawValue: $0)?.isOperators ?? false }) {
      throw SubmissionProblem(
        field: "options.\(key)", reason: "only a recipe of the configuration may say it",
        advice: "Remove it, or ask the operator.")
    }
    // Of two options that are wrong, the one that isn't known is likely to be the cause of the other.
    if let unknown = options.keys.sorted().first(where: { ImportOptionKey(rawValue: $0) == nil }) {
      throw SubmissionProblem(
        field: "options", reason: "there is no option \(unknown)",
        advice: "There are \(Self.keys.joined(separator: ", ")).")
    }
    // A command line can't tell 1 from "1".
    let reader = YAMLReader(file: "options", takesTextsForNumbers: true)
    let value = YAMLValue(key: "options", node: OptionValue.map(options).node, reader: reader)
    if let section = YAMLSection<ImportOptionKey>(value) { target.read(section) }
    if let first = reader.problems.first {
      throw SubmissionProblem(field: first.key ?? "options", reason: first.reason)
    }
    if options["filter"] != nil, let filter = target.mapping.filter, Self.hasRegularExpression(filter) {
      throw SubmissionProblem(
        field: "options.filter", reason: "only a recipe of the configuration may use MATCHES",
        advice: "Use LIKE, BEGINSWITH or CONTAINS.")
    }
  }

  /// Whether a predicate uses MATCHES. A regular expression can take without end on the right text, and here the same hand
  /// writes both.
  private static func hasRegularExpression(_ predicate: String) -> Bool {
    // With an escape in it, where a literal ends isn't asked: the word alone counts.
    guard !predicate.contains("\\") else { return predicate.lowercased().contains("matches") }
    var quote: Character?
    var plain = ""
    for character in predicate {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else {
        plain.append(character)
      }
    }
    return plain.lowercased().contains("matches")
  }
}
