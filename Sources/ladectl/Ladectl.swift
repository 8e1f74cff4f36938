import ArgumentParser
import ControlAPI
import Glibc

/// `ladectl`: what people and scripts use to talk to `laded`. It parses, runs one verb (each in a file under
/// `Commands`), and turns whatever went wrong into words and an exit status in one place (``Failure``).
@main
struct Ladectl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ladectl",
    abstract: "Submit, watch and query the imports of laded.",
    discussion: """
      Talks to the daemon over the Unix socket $LADE_SOCKET, or /run/lade/control.sock. Colours and progress bars \
      appear on a terminal only, and never with NO_COLOR set.

      Exit status:
        0   it worked; with 'wait', every job completed
        1   the daemon refused, or the request failed
        3   a job that was waited for was discarded or cancelled
        4   the time given by --timeout or --wait was up
        5   no daemon answers, or it may not be talked to
        64  the command line is wrong
      """,
    version: LadeVersion.current,
    subcommands: [
      Submit.self, List.self, Show.self, Rejects.self, Wait.self, Cancel.self, Fetch.self, Count.self,
      StatusCommand.self,
      Model.self,
    ])

  static func main() async {
    var json = false
    do {
      var command = try parseAsRoot()
      json = (command as? any ReportingCommand)?.output.json ?? false
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Failure(error).exit(asJSON: json)
    }
  }
}
