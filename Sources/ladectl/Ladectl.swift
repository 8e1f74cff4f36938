import ArgumentParser
import ControlAPI
import Glibc

/// `ladectl`: what people and scripts use to talk to `laded`. It parses, runs one verb (each in a file under
/// `Commands`), and turns whatever went wrong into words and an exit status in one place (``Failure``).
@main
struct Ladectl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ladectl",
    abstract: "Submit, watch and query the work of laded.",
    discussion: """
      Talks to the daemon over the Unix socket $LADE_SOCKET, or /run/lade/control.sock. Colours and progress bars \
      appear on a terminal only, and never with NO_COLOR set or TERM=dumb.

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
          Submit.self, Import.self, List.self, Show.self, Watch.self, Wait.self, Log.self, Cancel.self, Retry.self,
          Hold.self, Release.self, Priority.self, Remove.self, Rejects.self, BatchCommand.self,
        ]),
      CommandGroup(
        name: "Lanes",
        subcommands: [
          LaneCommand.self, Pause.self, Resume.self, Drain.self,
        ]),
      CommandGroup(
        name: "Objects and stores",
        subcommands: [Fetch.self, Count.self, Export.self, Update.self, Prune.self, StoreCommand.self]),
      CommandGroup(
        name: "The daemon and its configuration",
        subcommands: [
          StatusCommand.self, StatsCommand.self, RecipeCommand.self, ScheduleCommand.self, Config.self,
          ReloadCommand.self, Version.self,
        ]),
      CommandGroup(
        name: "Without a daemon", subcommands: [Model.self, Completions.self, Manual.self]),
    ])

  static func main() async {
    // Where the command line can't be read, it is at least to be seen in which form that is to be told.
    var json = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")
    do {
      var command = try await asyncParseAsRoot()
      json = (command as? any ReportingCommand)?.output.json ?? json
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Failure(betterWords(for: error)).exit(asJSON: json)
    }
  }

  /// Of a wrong command line, what is wrong where that is a misspelt verb.
  private static func betterWords(for error: any Error) -> any Error {
    guard exitCode(for: error) == .validationFailure,
      let misspelt = try? MisspeltVerb(in: Array(CommandLine.arguments.dropFirst()))
    else { return error }
    return LocalFailure.noSuchVerb(misspelt)
  }
}
