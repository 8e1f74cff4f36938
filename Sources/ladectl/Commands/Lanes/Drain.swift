import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl drain`: pauses the lanes and waits until no job runs.
  struct Drain: ControlCommand {
    static let configuration = verb(
      "drain", "Pause lanes, and wait until the running jobs have ended.",
      """
      For a backup of the machine, an update, or a store without writers. The lanes are paused as by 'ladectl pause' and stay \
      paused until 'ladectl resume'. Waiting jobs keep waiting; to wait for them instead, use 'ladectl wait --all'. Exits \
      with 0 when no job runs any more, whatever the results, and with 4 on a timeout; the lanes are paused then, too.
      """, json: .document("a JobList of those that were waited for"))

    @Argument(help: ArgumentHelp("The lanes; all if omitted.", valueName: "lane"), completion: .lanes)
    var lanes: [String] = []

    @OptionGroup var timeout: TimeoutOption

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let paused =
        try await lanes.isEmpty
        ? session.client.pauseAllLanes() : session.client.each(lanes) { try await $0.pause($1) }
      try await Waiter(session, for: .attempts(paused.lanes.flatMap(\.running))).run(timeout: timeout.seconds)
      guard !session.json else { return }
      let names = paused.lanes.map(\.name.printable).joined(separator: ", ")
      session.terminal.write("nothing runs any more; paused: \(names); 'ladectl resume' lets it go on\n")
    }
  }
}
