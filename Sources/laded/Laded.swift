import ArgumentParser
import Glibc
import LadeDaemon

/// The daemon's command line.
@main
struct Laded: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "laded",
    abstract: "Imports the files of a spool into typed objects in a store.",
    discussion: """
      Stays in the foreground. SIGTERM ends it: the spool is left alone, running jobs end at their next batch and go \
      on after the next start; a second one ends it at once. SIGHUP has it read its configuration again, SIGUSR1 write its \
      state to the log. Exit status: 0 after SIGTERM, 64 for wrong options, 65 for a store of a later version or none, 70 after an \
      error while it worked, 71 when limits of the process are too low, 73 when a directory, store or socket can't be used, \
      74 when that may pass, such as a full disk, 75 when another program uses them or the lease on a shared queue is lost, 77 without permission, 78 for a \
      configuration with mistakes.
      """,
    version: Daemon.version)

  @Option(help: ArgumentHelp("The configuration.", valueName: "path"))
  var config = "/etc/lade/lade.yaml"

  @Flag(
    help: ArgumentHelp(
      "Only read the configuration and the models that it names, and say what is wrong with them, or which stores can't "
        + "be migrated to them."))
  var checkConfig = false

  @MainActor static func main() async {
    // On the main thread, before the first other one.
    DispatchLog.quietIfPrioritiesAreDenied()
    do {
      try Daemon.checkAddressSpace()
    } catch {
      complain(error.description)
      Glibc.exit(error.exitStatus)
    }
    await main(nil)
  }

  func run() async throws {
    do {
      let daemon = try Daemon(configurationPath: config, isOnlyChecked: checkConfig)
      if checkConfig {
        try await daemon.check()
        for advice in try await daemon.warnings() { Self.complain("warning: \(advice)") }
        print("\(config): good")
        return
      }
      try await daemon.run()
    } catch let error as DaemonError {
      Self.complain(error.description)
      throw ExitCode(error.exitStatus)
    } catch {
      Self.complain("stopped by an error: \(error)")
      throw ExitCode(70)
    }
  }

  private static func complain(_ message: String) {
    let text = "laded: \(message)\n"
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }
}
