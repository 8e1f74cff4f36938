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
      try await session.change(lanes, all: { try await $0.pauseAllLanes() }, each: { try await $0.pause($1) })
    }
  }
}

extension Session {
  /// Changes these lanes, or all if there are none, and reports them.
  func change(
    _ names: [String], all: (ControlClient) async throws -> LaneList, each: (ControlClient, String) async throws -> Lane
  ) async throws {
    let list = try await names.isEmpty ? all(client) : client.each(names, each)
    try report(list) { list.lanes.map { $0.sentence + "\n" }.joined() }
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
