import ArgumentParser

/// Completes the verbs after `ladectl help`. The help verb is ArgumentParser's own, and its scripts complete no words behind it.
struct HelpCompletion: Sendable {
  /// The program, and every verb that has others below it.
  private let parents: [VerbDescription]

  /// - Parameter program: the program with all its verbs.
  init(of program: VerbDescription) {
    parents = program.family.filter { !$0.verbs.isEmpty }
  }

  /// The script with these completions.
  func added(to script: String, for shell: CompletionShell) -> String {
    switch shell {
    case .bash: script + "\n" + bash
    case .zsh: Self.inserted(zsh, into: script)
    case .fish: script + "\n" + fish
    default: script
    }
  }

  /// What is typed between `help` and the word to complete.
  private static func path(_ verb: VerbDescription) -> String { verb.words.dropFirst().joined(separator: " ") }

  /// Replaces the function of the same name that stands before it.
  private var bash: String {
    let cases = parents.map { verb in
      let words = verb.verbs.map(\.commandName).joined(separator: " ")
      return "    '\(Self.path(verb))') COMPREPLY+=($(compgen -W '\(words)' -- \"${cur}\")) ;;\n"
    }
    return """
      _ladectl_help() {
          case "${COMP_WORDS[*]:2:COMP_CWORD-2}" in
      \(cases.joined())    esac
      }

      """
  }

  private var zsh: String {
    func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
    let cases = parents.map { verb in
      let words = verb.verbs.map { quoted("\($0.commandName):\($0.abstract ?? "")") }.joined(separator: " ")
      return "    '\(Self.path(verb))') verbs=(\(words)) ;;\n"
    }
    return """
      _ladectl_help() {
          local -a verbs
          case "${words[2,CURRENT-1]}" in
      \(cases.joined())    esac
          _describe -V verb verbs
      }

      """
  }

  /// The script ends with a call, before which the function must stand.
  private static func inserted(_ function: String, into script: String) -> String {
    guard let end = script.firstRange(of: "\nif [[ \"${funcstack[1]}\"") else { return script + "\n" + function }
    return script[..<end.lowerBound] + "\n" + function + script[end.lowerBound...]
  }

  private var fish: String {
    func quoted(_ text: String) -> String {
      "'" + text.replacing(#"\"#, with: #"\\"#).replacing("'", with: #"\'"#) + "'"
    }
    let lines = parents.flatMap { verb in
      let typed = ["help", Self.path(verb)].filter { !$0.isEmpty }.joined(separator: " ")
      return verb.verbs.map {
        "complete -c 'ladectl' -n '__ladectl_helps_with \(typed)' -fa '\($0.commandName)' -d \(quoted($0.abstract ?? ""))\n"
      }
    }
    return """
      function __ladectl_helps_with
          set -l typed (commandline -opc)
          test "$typed[2..-1]" = "$argv"
      end
      \(lines.joined())
      """
  }
}
