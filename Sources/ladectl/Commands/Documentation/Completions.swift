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
      abstract: "Print a shell completion script.",
      discussion: """
        It completes verbs and options, and the running daemon's job numbers, lanes, stores and entities. The daemon has half a \
        second to answer, or $LADE_COMPLETION_PATIENCE seconds.

          ladectl completions bash \\
            > ~/.local/share/bash-completion/completions/ladectl
          ladectl completions zsh > DIRECTORY/_ladectl     # one of $fpath
          ladectl completions fish > ~/.config/fish/completions/ladectl.fish
        """)

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
      let help = HelpCompletion(of: try VerbDescription.all())
      let shell: CompletionShell =
        switch shell {
        case .bash: .bash
        case .zsh: .zsh
        case .fish: .fish
        }
      Terminal().write(help.added(to: Ladectl.completionScript(for: shell), for: shell) + "\n")
    }
  }
}
