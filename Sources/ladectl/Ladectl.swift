import ArgumentParser
import ControlAPI
import Glibc

/// `ladectl`, the command-line client of `laded`. It parses the command line, runs one verb (each in a file under `Commands`), and
/// turns every failure into a message and an exit status in one place (``Failure``).
@main
struct Ladectl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ladectl",
    abstract: "Submit, watch and query the work of laded.",
    discussion: """
      Talks to the daemon over the Unix socket $LADE_SOCKET, or /run/lade/control.sock; --socket and --instance name \
      another. They and --json stand before the verb or behind it. Colours and progress bars appear on a terminal only, \
      and never with NO_COLOR set or TERM=dumb.

      With --json every verb writes its result, and an error to standard error, as JSON: one document, or one a line \
      where it goes on. The documents' names are those of the control interface's description, which the daemon serves:

        curl --unix-socket /run/lade/control.sock http://lade/v1/openapi.yaml

      Exit status:
      \(ExitStatus.table)
      """,
    version: LadeVersion.current,
    groupedSubcommands: [
      CommandGroup(
        name: "Jobs",
        subcommands: [
          Submit.self, Import.self, Replay.self, List.self, Show.self, Watch.self, Wait.self, Log.self, Cancel.self,
          Retry.self,
          Hold.self, Release.self, Priority.self, Remove.self, Rejects.self, BatchCommand.self,
        ]),
      CommandGroup(
        name: "Lanes",
        subcommands: [
          LaneCommand.self, Pause.self, Resume.self, Drain.self,
        ]),
      CommandGroup(
        name: "Objects and stores",
        subcommands: [
          Fetch.self, Count.self, WhereFrom.self, Export.self, Edit.self, Update.self, Prune.self, Undo.self,
          StoreCommand.self,
        ]),
      CommandGroup(
        name: "The daemon and its configuration",
        subcommands: [
          StatusCommand.self, StatsCommand.self, DaemonsCommand.self, RecipeCommand.self, ScheduleCommand.self,
          Config.self,
          ReloadCommand.self, Web.self, Version.self,
        ]),
      CommandGroup(
        name: "Without a daemon", subcommands: [Model.self, Completions.self, Manual.self]),
    ])

  static func main() async {
    // Even if the command line is invalid, find out whether errors should be JSON.
    var json = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")
    let words = CommandWords(Array(CommandLine.arguments.dropFirst()))
    do {
      var command = try await asyncParseAsRoot(words.arguments)
      json = (command as? any ReportingCommand)?.output.json ?? json
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Failure(betterWords(for: error, in: words)).exit(asJSON: json)
    }
  }

  /// The message for a command line with a misspelt verb.
  private static func betterWords(for error: any Error, in words: CommandWords) -> any Error {
    guard exitCode(for: error) == .validationFailure, let misspelt = try? MisspeltVerb(in: words.arguments)
    else { return error }
    return LocalFailure.noSuchVerb(misspelt)
  }
}
