import FoundationEssentials

/// A verb as ArgumentParser describes it (`--experimental-dump-help`), as far as manual pages need it.
struct VerbDescription: Decodable, Sendable {
  struct Name: Decodable, Sendable {
    let kind: String
    let name: String

    var text: String { kind == "long" ? "--" + name : "-" + name }
  }

  struct Argument: Decodable, Sendable {
    let kind: String
    let shouldDisplay: Bool
    let isOptional: Bool
    let isRepeating: Bool
    let names: [Name]?
    let valueName: String?
    let defaultValue: String?
    let allValues: [String]?
    let abstract: String?

    var isPositional: Bool { kind == "positional" }
    var value: String? { kind == "flag" ? nil : valueName }
  }

  private struct Tool: Decodable {
    let command: VerbDescription
  }

  let commandName: String
  let superCommands: [String]?
  let shouldDisplay: Bool?
  let aliases: [String]?
  let abstract: String?
  let discussion: String?
  let subcommands: [VerbDescription]?
  let arguments: [Argument]?

  /// The program with all its verbs.
  /// - Throws: `DecodingError`, if the library has changed its description.
  static func all() throws -> VerbDescription {
    try JSONDecoder().decode(Tool.self, from: Data(Ladectl._dumpHelp().utf8)).command
  }

  /// The verb on this process's command line; nil if there is none that is known.
  static let onCommandLine: VerbDescription? = {
    let words = CommandWords(Array(CommandLine.arguments.dropFirst())).verbs
    // Only the wording of an error depends on it.
    guard var verb = try? VerbDescription.all() else { return nil }
    for word in words {
      guard let next = verb.verbs.first(where: { $0.commandName == word || $0.aliases?.contains(word) == true }) else {
        return nil
      }
      verb = next
    }
    return verb
  }()

  /// The words to type: `ladectl store check`.
  var words: [String] { (superCommands ?? []) + [commandName] }

  /// The verb and all visible verbs below it.
  var family: [VerbDescription] { [self] + verbs.flatMap(\.family) }

  /// The verbs directly below it.
  var verbs: [VerbDescription] {
    (subcommands ?? []).filter { $0.shouldDisplay ?? true && $0.commandName != "help" }
  }

  /// Its visible arguments and options.
  var shownArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}
