import ArgumentParser

extension Ladectl {
  /// `ladectl completions`: the script that teaches a shell to complete.
  struct Completions: ParsableCommand {
    enum Shell: String, ExpressibleByArgument, CaseIterable {
      case bash
      case zsh
      case fish
    }

    static let configuration = CommandConfiguration(
      abstract: "Write the script that teaches a shell to complete ladectl's words.",
      discussion: """
        Verbs and options are completed, and jobs' numbers, lanes, stores and entities of the daemon that runs. For \
        these it is given half a second, or as many as $LADE_COMPLETION_PATIENCE says.

          bash  ladectl completions bash > ~/.local/share/bash-completion/completions/ladectl
          zsh   ladectl completions zsh > DIRECTORY/_ladectl, where DIRECTORY is one of $fpath
          fish  ladectl completions fish > ~/.config/fish/completions/ladectl.fish
        """)

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
      let shell: CompletionShell =
        switch shell {
        case .bash: .bash
        case .zsh: .zsh
        case .fish: .fish
        }
      Terminal().write(Ladectl.completionScript(for: shell) + "\n")
    }
  }
}
