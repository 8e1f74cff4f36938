import ArgumentParser
import ControlAPI
import FoundationEssentials

extension Ladectl {
  /// `ladectl submit`: makes a job of a file.
  struct Submit: ControlCommand {
    static let configuration = CommandConfiguration(
      abstract: "Import a file.",
      discussion: """
        What to do with it is a recipe of the daemon's configuration, or a store and an entity. The daemon reads the \
        file, so it must be where the daemon may read.
        """)

    @Argument(help: "The file.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The recipe that says the rest.", valueName: "name"))
    var recipe: String?

    @Option(help: ArgumentHelp("The store (default: the one that has the entity).", valueName: "name"))
    var store: String?

    @Option(
      help: ArgumentHelp(
        "The entity that the records become; '*' for each file of a zip or tar into the entity of its name.",
        valueName: "name"))
    var entity: String?

    @Option(
      help: ArgumentHelp(
        "insert rejects a record that is there already, upsert updates the object, update takes no new ones, replace puts "
          + "the file in place of all there is, synchronise deletes what the file hasn't got."))
    var mode: ImportMode?

    @Option(help: ArgumentHelp("The higher, the earlier.", valueName: "n"))
    var priority: Int?

    @Option(help: ArgumentHelp("The lane to run in.", valueName: "name"))
    var lane: String?

    @Option(
      help: ArgumentHelp(
        "Not before this: 2026-03-01T12:00:00Z, '2026-03-01 12:00' in local time, or from now, such as +90s, +10m, "
          + "+2h, +1d.",
        valueName: "time"),
      transform: { try StartTime(parsing: $0) })
    var notBefore: StartTime?

    @Option(help: ArgumentHelp("While a job with this key hasn't ended, no second one is made.", valueName: "key"))
    var uniqueKey: String?

    @Option(help: ArgumentHelp("How often to try.", valueName: "n"))
    var maxAttempts: Int?

    @Option(
      help: ArgumentHelp(
        "An option of the import, with the names that recipes have: 'delimiter=;', dry_run=true, "
          + "properties.born.column=Birth. Given again, the values are a list.", valueName: "name=value"),
      transform: { try NamedOption(parsing: $0) })
    var option: [NamedOption] = []

    @Flag(help: "Wait until the job has ended, as 'ladectl wait' does.")
    var wait = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard (recipe == nil) != (entity == nil) else {
        throw ValidationError("Say what to do with the file: either --recipe, or --entity.")
      }
      guard recipe == nil || store == nil else {
        throw ValidationError("The recipe says which store; --store goes with --entity.")
      }
      _ = try NamedOption.values(option)
    }

    func run(_ session: Session) async throws {
      let job = try await session.client.submit(
        JobSubmission(
          source: AbsolutePath.of(file), store: store, entity: entity, recipe: recipe, mode: mode, lane: lane,
          priority: priority, notBefore: notBefore?.date, uniqueKey: uniqueKey, maxAttempts: maxAttempts,
          options: try NamedOption.values(option)))
      guard wait else { return try session.report(job) { "job \(job.id) \(job.state.rawValue)\n" } }
      try await Waiter(session, for: .jobs([job.id])).run(timeout: nil)
    }
  }
}

extension ImportMode: ExpressibleByArgument {}
