import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl resume`: resumes lanes.
  struct Resume: ControlCommand {
    static let configuration = verb(
      "resume", "Resume some lanes or all.",
      json: .document("a LaneList of the resumed lanes"))

    @Argument(help: ArgumentHelp("The lanes; all if omitted.", valueName: "lane"), completion: .lanes)
    var lanes: [String] = []

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      try await session.change(lanes, all: { try await $0.resumeAllLanes() }, each: { try await $0.resume($1) })
    }
  }
}
