import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl count`: counts objects.
  struct Count: ControlCommand {
    static let configuration = verb(
      "count", "Count objects of an entity.",
      """
      With --by they are counted by one of their values, the most frequent first.

        ladectl count Order --where "price > 100" --by state
      """, json: .either("an ObjectCount", "an ObjectGroups", when: "with --by"))

    @Argument(help: "The entity.", completion: .entities)
    var entity: String

    @Option(name: .customLong("where"), help: ArgumentHelp("Select objects by a predicate.", valueName: "predicate"))
    var predicate: String?

    @Option(
      help: ArgumentHelp("Count by the values of an attribute or to-one relationship.", valueName: "property"),
      completion: .properties)
    var by: String?

    @Option(help: ArgumentHelp("The maximum number of values with --by, up to 1000.", valueName: "n"))
    var limit: Int = 100

    @Option(help: ArgumentHelp("The store, if several have the entity.", valueName: "name"), completion: .stores)
    var store: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard (1...GroupQuery.maximumLimit).contains(limit) else {
        throw ValidationError("The limit can be from 1 to \(GroupQuery.maximumLimit).")
      }
    }

    func run(_ session: Session) async throws {
      if let by {
        let groups = try await session.client.groups(
          GroupQuery(entity: entity, store: store, predicate: predicate, by: by, limit: limit))
        try session.report(groups) {
          groups.groups.map { "\($0.count)\t\(EditSheet.value($0.value).printable)\n" }.joined()
        }
        if groups.hasMore, !session.json { session.remark("there are more values: --limit says how many are shown") }
        return
      }
      let count = try await session.client.count(ObjectQuery(entity: entity, store: store, predicate: predicate))
      try session.report(count) { "\(count.count)\n" }
    }
  }
}
