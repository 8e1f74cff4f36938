import ArgumentParser
import ControlAPI
import Glibc

extension Ladectl {
  /// `ladectl config`: commands for the daemon's configuration.
  struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "config", abstract: "Check the daemon's configuration.", subcommands: [Check.self])

    /// `ladectl config check`: validates it.
    struct Check: ControlCommand {
      static let configuration = verb(
        "check", "Validate the configuration before the daemon uses it.",
        """
        The running daemon reads its configuration file again, with the drop-ins in the folder of the same name and '.d', its \
        environment, and the models they name; it changes nothing. With a file, 'laded --check-config' reads that file, \
        without a running daemon. Exits with 0 if it is valid, otherwise with 1.
        """, json: .document("a ConfigurationCheck"))

      @Argument(help: "A file other than the daemon's.", completion: .file(extensions: ["yaml", "yml"]))
      var file: String?

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func validate() throws {
        guard file == nil || !output.json else {
          throw ValidationError("--json goes with the daemon's own file: laded tells of others in words.")
        }
      }

      func run(_ session: Session) async throws {
        if let file { throw try ProgramBeside("laded").run(["--check-config", "--config", file]) }
        let check = try await session.client.checkConfiguration()
        try session.report(check) { check.text }
        if !check.isGood { throw ExitStatus.failed.silently }
      }
    }
  }
}

extension ConfigurationCheck {
  fileprivate var text: String {
    let path = path.printable
    guard isGood else {
      return mistakes.map { mistake in
        var place = mistake.file?.printable ?? path
        if let line = mistake.line { place += ":\(line)" + (mistake.column.map { ":\($0)" } ?? "") }
        return "\(place): " + (mistake.key.map { "\($0.printable): " } ?? "") + mistake.message.printable + "\n"
      }.joined()
    }
    return "\(path): good\n"
      + (differs ? "It says something else than the daemon works by: 'ladectl reload' changes that.\n" : "")
  }
}
