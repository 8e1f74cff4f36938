import ArgumentParser

/// A command line up to its verb. `--socket`, `--instance` and `--json` belong to nearly every verb, so they may also stand
/// before it, as with other programs.
struct CommandWords: Sendable, Hashable {
  private static let flags: Set<String> = ["--json"]
  private static let options: Set<String> = ["--socket", "--instance"]

  /// The verbs, without the program's name: `["store", "check"]`.
  let verbs: [String]
  /// The arguments as the parser takes them, with these options behind the verb.
  let arguments: [String]

  /// - Parameter words: the arguments without the program's name.
  init(_ words: [String]) {
    var command: any ParsableCommand.Type = Ladectl.self
    var verbs: [String] = []
    var moved: [String] = []
    var rest = words[...]
    while let word = rest.first {
      if let next = command.configuration.subcommands.first(where: { $0.isCalled(word) }) {
        command = next
        verbs.append(word)
        rest.removeFirst()
      } else if command.configuration.subcommands.isEmpty {
        break
      } else if Self.flags.contains(word) || Self.options.contains(where: { word.hasPrefix($0 + "=") }) {
        moved.append(word)
        rest.removeFirst()
      } else if Self.options.contains(word), rest.count > 1 {
        moved += rest.prefix(2)
        rest.removeFirst(2)
      } else {
        break
      }
    }
    self.verbs = verbs
    // Help, a misspelt verb, or none: there is no verb that takes the options.
    arguments = verbs + (verbs.isEmpty ? [] : moved) + rest
  }
}

extension ParsableCommand {
  fileprivate static func isCalled(_ word: String) -> Bool {
    _commandName == word || configuration.aliases.contains(word)
  }
}
