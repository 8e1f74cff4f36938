import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl export`: writes objects into a file.
  struct Export: ControlCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case csv, json, ndjson, sqlite }
    enum Compression: String, ExpressibleByArgument, CaseIterable { case gzip, zstd }
    enum Dates: String, ExpressibleByArgument, CaseIterable { case model, iso }

    static let configuration = verb(
      "export", "Write the objects of an entity into a file of the daemon's folder of exports.",
      """
      The file is there whole or not at all; what it is called is the job's note. What was exported is what an import \
      takes. For some objects at once, see 'ladectl fetch'.

        ladectl export Order --where "state == 'open'" --columns number,customer.name --format csv --wait
      """, json: .submission)

    @Argument(help: "The entity.", completion: .entities)
    var entity: String

    @Option(help: "The form of the file; csv if not given.")
    var format: Format?

    @Option(help: ArgumentHelp("Its name in the folder of exports; one that is there is replaced.", valueName: "name"))
    var file: String?

    @Option(name: .customLong("where"), help: ArgumentHelp("Which objects.", valueName: "predicate"))
    var predicate: String?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Attributes to sort by, with commas between; - for the greatest first.", valueName: "name,-age"))
    var sort: String?

    @Option(
      help: ArgumentHelp(
        "What to write, with commas between; also over relationships, and relationship.@count.", valueName: "a,b.c"))
    var columns: String?

    @Option(help: ArgumentHelp("How many objects at most.", valueName: "n"))
    var limit: Int?

    @Option(help: "How the file is packed.")
    var compression: Compression?

    @Option(help: ArgumentHelp("CSV: what stands between two fields, one character or tab.", valueName: "character"))
    var delimiter: String?

    @Option(help: "How dates are written: as the model says that they are read, or by ISO 8601 in UTC.")
    var dates: Dates?

    @Flag(help: "Leave out objects of entities that inherit from it.")
    var noSubentities = false

    @Option(help: ArgumentHelp("The store, where several have the entity.", valueName: "name"), completion: .stores)
    var store: String?

    @OptionGroup var other: OtherOptions
    @OptionGroup(title: "The job") var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    private var options: [String: OptionValue] {
      get throws {
        func list(_ text: String?) -> OptionValue? {
          text.map { .list($0.split(separator: ",").map { .string(String($0)) }) }
        }
        return try other.merged(with: [
          "format": format.map { .string($0.rawValue) }, "file": file.map { .string($0) },
          "where": predicate.map { .string($0) }, "sort": list(sort), "columns": list(columns),
          "limit": limit.map { .int($0) }, "compression": compression.map { .string($0.rawValue) },
          "delimiter": delimiter.map { .string($0) }, "dates": dates.map { .string($0.rawValue) },
          "subentities": noSubentities ? .bool(false) : nil,
        ])
      }
    }

    func validate() throws {
      guard file?.contains("/") != true else {
        throw ValidationError("--file is a name in the daemon's folder of exports, not a path.")
      }
      _ = try options
    }

    func run(_ session: Session) async throws {
      let store = try await session.client.storeName(store, having: entity)
      let work = JobSubmission(kind: "export", store: store, entity: entity, options: try options)
      try await Submitter(session: session).run([submission.applied(to: work)], wait: submission.wait)
    }
  }
}
