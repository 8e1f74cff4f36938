import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl version`: prints the versions of client and daemon.
  struct Version: ControlCommand {
    static let configuration = verb(
      "version", "Show the versions of ladectl and of the running daemon.",
      "Without a daemon it still shows ladectl's version, and exits with the status for an absent daemon.",
      json: .local("ladectl, and laded if it runs, each a version"))

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    private struct Versions: Encodable {
      let ladectl: String
      let laded: String?
    }

    func run(_ session: Session) async throws {
      do {
        let status = try await session.client.status()
        try session.report(Versions(ladectl: LadeVersion.current, laded: status.version)) {
          "ladectl \(LadeVersion.current)\nladed   \(status.version.printable), process \(status.pid)\n"
        }
      } catch {
        try session.report(Versions(ladectl: LadeVersion.current, laded: nil)) { "ladectl \(LadeVersion.current)\n" }
        throw error
      }
    }
  }
}
