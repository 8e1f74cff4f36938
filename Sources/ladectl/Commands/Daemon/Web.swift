import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl web`: signs a browser in.
  struct Web: ControlCommand {
    static let configuration = verb(
      "web", "Print a link that opens the daemon's web pages.",
      """
      The link works once, for a minute, and signs the browser in as you: the pages may do what you may do with ladectl. \
      It needs laded-web.socket, or web.address in the configuration. To open the pages from another machine, forward the \
      port first: ssh -L 9465:127.0.0.1:9465 host.
      """, json: .document("a WebLink"))

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let link = try await session.client.webLink()
      try session.report(link) { link.url.printable + "\n" }
    }
  }
}
