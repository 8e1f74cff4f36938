import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl count`: counts objects.
  struct Count: ControlCommand {
    static let configuration = verb("count", "Count objects of an entity.", json: .document("an ObjectCount"))

    @Argument(help: "The entity.", completion: .entities)
    var entity: String

    @Option(name: .customLong("where"), help: ArgumentHelp("Select objects by a predicate.", valueName: "predicate"))
    var predicate: String?

    @Option(help: ArgumentHelp("The store, if several have the entity.", valueName: "name"), completion: .stores)
    var store: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let count = try await session.client.count(ObjectQuery(entity: entity, store: store, predicate: predicate))
      try session.report(count) { "\(count.count)\n" }
    }
  }
}
