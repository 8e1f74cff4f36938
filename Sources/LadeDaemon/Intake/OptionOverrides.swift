import ControlAPI
import Importing
import ManagedObjects
import StrictYAML

/// The options of a ticket or a submission, which go before the recipe's: the same keys as a recipe has, read as a recipe's are,
/// but for what only the operator may say.
struct OptionOverrides {
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
        field: "options", reason: "there is no option \(unknown.prefix(80))", advice: Self.advice(for: unknown))
    }
    if case .map(let set)? = options["set"] {
      for key in [FileSet.Key.timeout, .afterTimeout] where set[key.rawValue] != nil {
        throw SubmissionProblem(
          field: "options.set.\(key.rawValue)", reason: "only the sets of a recipe's hot folder wait",
          advice: "Leave it out.")
      }
    }
    let usual = target.batchSize
    let contract = target.mapping.schema
    // A command line can't tell 1 from "1".
    let node = YAMLNode(.map(options)).under("options", takesTextsForNumbers: true)
    let reader = YAMLReader(file: "options")
    let value = YAMLValue(key: "options", node: node, reader: reader)
    if let section = YAMLSection<ImportOptionKey>(value) { target.read(section) }
    if let first = reader.reading.problems.first {
      throw SubmissionProblem(field: first.key ?? "options", reason: first.reason)
    }
    for subject in SchemaContract.Subject.allCases
    where target.mapping.schema[subject] == .evolve && contract[subject] != .evolve {
      throw SubmissionProblem(
        field: "options.schema", reason: "only a recipe of the configuration may have the model evolve",
        advice: "Name such a recipe, or ask the operator.")
    }
    if options["filter"] != nil, let filter = target.mapping.filter { try Self.check(filter) }
    if target.batchSize > max(usual, ImportOptions().batchSize) {
      throw SubmissionProblem(
        field: "options.batch_size",
        reason: "it can't be “\(target.batchSize)”: a job's memory grows with it, and only a recipe may say more than "
          + "\(max(usual, ImportOptions().batchSize))")
    }
  }

  /// What to write instead of an option that there isn't.
  private static func advice(for name: String) -> String {
    let flag = name.replacing("_", with: "-")
    if RecipeConfiguration.Key(rawValue: name) != nil {
      return "It isn't one of the options: say it beside them, with ladectl by --\(flag)."
    }
    if let nearest = NearestName.of(name, among: keys) { return "Did you mean \(nearest)?" }
    return "There are \(keys.joined(separator: ", "))."
  }

  /// Refuses a filter with a regular expression: that can take without end on the right text, and here the same hand writes
  /// both. What the parser made of the text is asked, for nothing else knows its words, quotes and escapes as well.
  private static func check(_ filter: String) throws {
    let predicate: FetchPredicate
    do {
      predicate = try FetchPredicate(format: filter)
    } catch {
      throw SubmissionProblem(
        field: "options.filter", reason: "“\(filter)” is no predicate: column \(error.column): \(error.reason)")
    }
    guard predicate.uses(.matches) else { return }
    throw SubmissionProblem(
      field: "options.filter", reason: "only a recipe of the configuration may use MATCHES",
      advice: "Use LIKE, BEGINSWITH or CONTAINS.")
  }
}
