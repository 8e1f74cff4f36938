import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl lane`: commands for lanes.
  struct LaneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "lane", abstract: "Show the lanes, and change their concurrency.",
      discussion: "'ladectl pause' and 'ladectl resume' stop and start lanes.",
      subcommands: [List.self, Concurrency.self], defaultSubcommand: List.self)

    /// `ladectl lane list`.
    struct List: ControlCommand {
      static let configuration = verb(
        "list", "Show the lanes and how many jobs are in each.", json: .document("a LaneList"))

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let list = try await session.client.lanes()
        try session.report(list) { list.table.rendered(width: session.terminal.width, style: session.terminal.style) }
      }
    }

    /// `ladectl lane concurrency`.
    struct Concurrency: ControlCommand {
      static let configuration = verb(
        "concurrency", "Change the concurrency of a lane.",
        """
        Takes effect at once and lasts until the daemon stops, or until 'default' restores the configured value. Running jobs \
        aren't affected.

          ladectl lane concurrency import 4
          ladectl lane concurrency import default
        """, json: .document("a Lane"))

      @Argument(help: "The lane.", completion: .lanes)
      var lane: String

      @Argument(
        help: ArgumentHelp("The concurrency, 1 to 64, or default.", valueName: "number"),
        completion: .list(["default", "1", "2", "4", "8"]), transform: { try Number(parsing: $0) })
      var number: Number

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let lane = try await session.client.setConcurrency(of: lane, to: number.value)
        try session.report(lane) { lane.sentence + "\n" }
      }
    }

    /// A number of jobs, or nil for the configured one.
    struct Number: Sendable, Hashable {
      let value: Int?

      init(parsing text: String) throws {
        value = text == "default" ? nil : Int(text)
        guard text == "default" || LaneConfiguration.concurrencyRange.contains(value ?? 0) else {
          throw ValidationError("'\(text)' isn't a number from 1 to 64, or 'default'.")
        }
      }
    }
  }
}
