import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl count`: how many objects there are.
  struct Count: ControlCommand {
    static let configuration = CommandConfiguration(abstract: "Count objects of an entity.")

    @Argument(help: "The entity.")
    var entity: String

    @Option(name: .customLong("where"), help: ArgumentHelp("Which objects.", valueName: "predicate"))
    var predicate: String?

    @Option(help: ArgumentHelp("The store, where several have the entity.", valueName: "name"))
    var store: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let count = try await session.client.count(ObjectQuery(entity: entity, store: store, predicate: predicate))
      try session.report(count) { "\(count.count)\n" }
    }
  }
}
