import ArgumentParser
import Glibc

/// The output format of a verb.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print results and errors as JSON, as in the control interface.")
  var json = false
}

/// The daemon to talk to.
struct ConnectionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The daemon's control socket (default: $LADE_SOCKET, or /run/lade/control.sock).", valueName: "path"),
    completion: .file())
  var socket: String?

  @Option(
    help: ArgumentHelp(
      "The instance of the service, for one that was started as laded@NAME: its socket is "
        + "/run/lade@NAME/control.sock.", valueName: "name"))
  var instance: String?

  func validate() throws {
    guard socket == nil || instance == nil else {
      throw ValidationError("--instance says which socket: --socket doesn't go with it.")
    }
    guard instance.map({ !$0.isEmpty && !$0.contains("/") }) ?? true else {
      throw ValidationError("--instance is the name behind the @ of the unit, such as shop of laded@shop.")
    }
  }

  /// The path from the options, the environment or the default.
  var socketPath: String { Self.path(givenAs: socket ?? instance.map(Self.path(ofInstance:))) }

  static func path(ofInstance name: String) -> String { "/run/lade@\(name)/control.sock" }

  static func path(givenAs option: String?) -> String {
    option ?? getenv("LADE_SOCKET").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
      ?? "/run/lade/control.sock"
  }
}

/// A verb with `--json`.
protocol ReportingCommand: AsyncParsableCommand {
  var output: OutputOptions { get }
}

/// A verb that talks to the daemon.
protocol ControlCommand: ReportingCommand {
  var connection: ConnectionOptions { get }

  /// Runs the verb with a client and a terminal.
  func run(_ session: Session) async throws
}

extension ControlCommand {
  mutating func run() async throws {
    try await run(
      Session(
        client: ControlClient(socketPath: connection.socketPath), terminal: Terminal(), json: output.json))
  }
}

/// How long a verb waits.
struct TimeoutOption: ParsableArguments {
  @Option(name: .customLong("timeout"), help: ArgumentHelp("Give up after this many seconds.", valueName: "seconds"))
  var seconds: Double?

  func validate() throws {
    guard seconds.map({ $0 >= 0 && $0.isFinite }) ?? true else {
      throw ValidationError("--timeout is a number of seconds.")
    }
  }
}
