import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl pause`: pauses lanes, so that they start no more jobs.
  struct Pause: ControlCommand {
    static let configuration = verb(
      "pause", "Pause some lanes or all, so that they start no more jobs.",
      """
      Running jobs continue, and files are still accepted as jobs. Lasts until 'ladectl resume', even across a restart of the \
      daemon.
      """, json: .document("a LaneList of what was paused"))

    @Argument(help: ArgumentHelp("The lanes; all if omitted.", valueName: "lane"), completion: .lanes)
    var lanes: [String] = []

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let list =
        try await lanes.isEmpty
        ? session.client.pauseAllLanes() : session.client.each(lanes) { try await $0.pause($1) }
      try session.report(list) { list.lanes.map { $0.sentence + "\n" }.joined() }
    }
  }
}

extension ControlClient {
  /// Applies a change to each of these lanes.
  func each(_ names: [String], _ change: (ControlClient, String) async throws -> Lane) async throws -> LaneList {
    var list = LaneList(lanes: [])
    for name in names { list.lanes.append(try await change(self, name)) }
    return list
  }
}
