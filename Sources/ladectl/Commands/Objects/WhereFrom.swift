import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl where-from`: shows which file and record an object comes from.
  struct WhereFrom: ControlCommand {
    static let configuration = verb(
      "where-from", "Show which file, line and job an object comes from, and which jobs have changed it since.",
      """
      Known for objects of entities whose user info says lineage: true, and of recipes that say so. The key is the value of the \
      entity's first uniqueness constraint of one attribute, or the object's number if it has none.

        ladectl where-from Person 42
        ladectl where-from Person --where "email == 'ann@example.org'"
      """, json: .document("a RowOrigins"))

    @Argument(help: "The entity.", completion: .entities)
    var entity: String

    @Argument(help: "The object's key.")
    var key: String?

    @Option(name: .customLong("where"), help: ArgumentHelp("Select objects by a predicate.", valueName: "predicate"))
    var predicate: String?

    @Option(help: ArgumentHelp("The maximum number of objects, up to 1000.", valueName: "n"))
    var limit: Int = 100

    @Option(help: ArgumentHelp("The store, if several have the entity.", valueName: "name"), completion: .stores)
    var store: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard (key == nil) != (predicate == nil) else {
        throw ValidationError(
          key == nil ? "Which object? Give its key, or --where." : "Give either a key or --where.")
      }
      guard (1...OriginQuery.maximumLimit).contains(limit) else {
        throw ValidationError("The limit can be from 1 to \(OriginQuery.maximumLimit).")
      }
    }

    func run(_ session: Session) async throws {
      let origins = try await session.client.origins(
        OriginQuery(entity: entity, store: store, key: key, predicate: predicate, limit: limit))
      try session.report(origins) { OriginSheet(origins: origins).rendered(style: session.terminal.style) }
    }
  }
}
