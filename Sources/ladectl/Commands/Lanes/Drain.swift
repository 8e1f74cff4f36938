import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl drain`: pauses the lanes and waits until no job runs.
  struct Drain: ControlCommand {
    static let configuration = verb(
      "drain", "Start no more jobs, and wait until those that run have ended.",
      """
      For a backup of the machine, an update, or a look at a store that nobody writes to: the lanes are paused as by \
      'ladectl pause', and stay so until 'ladectl resume'. What waits, waits on; to wait until it is done instead, use \
      'ladectl wait --all'. Ends with 0 when nothing runs any more, whatever became of it, and with 4 when the time was \
      up; the lanes are paused then, too.
      """, json: .document("a JobList of those that were waited for"))

    @Argument(help: ArgumentHelp("The lanes; all, where none is named.", valueName: "lane"), completion: .lanes)
    var lanes: [String] = []

    @Option(help: ArgumentHelp("Give up after so many seconds.", valueName: "seconds"))
    var timeout: Double?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard timeout.map({ $0 >= 0 && $0.isFinite }) ?? true else {
        throw ValidationError("--timeout is a number of seconds.")
      }
    }

    func run(_ session: Session) async throws {
      let paused =
        try await lanes.isEmpty
        ? session.client.pauseAllLanes() : session.client.each(lanes) { try await $0.pause($1) }
      try await Waiter(session, for: .attempts(paused.lanes.flatMap(\.running))).run(timeout: timeout)
      guard !session.json else { return }
      let names = paused.lanes.map(\.name.printable).joined(separator: ", ")
      session.terminal.write("nothing runs any more; paused: \(names); 'ladectl resume' lets it go on\n")
    }
  }
}
