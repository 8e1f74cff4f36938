import ArgumentParser
import ControlAPI
import CoreDataStores
import Foundation
import Importing
import ManagedObjects

extension Ladectl {
  /// `ladectl export`: writes objects into a file.
  struct Export: ControlCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
      case csv, json, ndjson, sqlite, parquet, xlsx
      case coreData = "core-data"
    }
    enum Compression: String, ExpressibleByArgument, CaseIterable { case gzip, zstd }
    enum Dates: String, ExpressibleByArgument, CaseIterable { case model, iso }

    static let configuration = verb(
      "export", "Write objects of an entity to a file in the daemon's exports folder.",
      """
      The file appears complete or not at all; the job's note has its name. An import can read it back. To print a few objects, \
      use 'ladectl fetch'.

        ladectl export Order --where "state == 'open'" --format csv --wait \\
          --columns number,customer.name

      With --as core-data it writes a Core Data store of all entities, for the app whose store, or whose compiled \
      model from its bundle, is the template. The template is read here, and isn't changed.

        ladectl export App.sqlite --as core-data --template old/App.sqlite --wait
      """, json: .submission)

    @Argument(
      help: ArgumentHelp("The entity; with --as core-data the file's name instead.", valueName: "entity"),
      completion: .entities)
    var subject: String

    @Option(name: [.long, .customLong("as")], help: "The file format (default: csv).")
    var format: Format?

    @Option(
      help: ArgumentHelp(
        "core-data: a store that the app wrote, or the .momd from its bundle.", valueName: "path"),
      completion: .file())
    var template: String?

    @Option(
      help: ArgumentHelp("The file's name in the exports folder; an existing file is replaced.", valueName: "name"))
    var file: String?

    @Option(name: .customLong("where"), help: ArgumentHelp("Select objects by a predicate.", valueName: "predicate"))
    var predicate: String?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Attributes to sort by, separated by commas; - sorts descending.", valueName: "name,-age"),
      completion: .properties)
    var sort: String?

    @Option(
      help: ArgumentHelp(
        "Columns to write, separated by commas; key paths and relationship.@count are allowed.", valueName: "a,b.c"),
      completion: .properties)
    var columns: String?

    @Option(help: ArgumentHelp("Maximum number of objects.", valueName: "n"))
    var limit: Int?

    @Option(help: "The compression of the file, or of a Parquet file's pages (default there: snappy).")
    var compression: Compression?

    @Option(help: ArgumentHelp("CSV: the field delimiter, one character or tab.", valueName: "character"))
    var delimiter: String?

    @Option(help: "The date format: the model's format for reading, or ISO 8601 in UTC.")
    var dates: Dates?

    @Flag(help: "Exclude objects of subentities.")
    var noSubentities = false

    @Option(help: ArgumentHelp("The store, if several have the entity.", valueName: "name"), completion: .stores)
    var store: String?

    @OptionGroup var other: OtherOptions
    @OptionGroup var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    /// The entity; nil for a whole store.
    private var entity: String? { format == .coreData ? nil : subject }

    private var options: [String: OptionValue] {
      get throws {
        func list(_ text: String?) -> OptionValue? {
          text.map { .list($0.split(separator: ",").map { .string(String($0)) }) }
        }
        return try other.merged(with: [
          "format": format.map { .string($0.rawValue) },
          "file": (format == .coreData ? subject : file).map { .string($0) },
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
      if format == .coreData {
        guard !subject.contains("/"), file == nil else {
          throw ValidationError(
            "With --as core-data, give the file's name in the daemon's folder of exports, once.")
        }
        guard template != nil else {
          throw ValidationError(
            "With --as core-data, give a --template: a store that the app wrote, or the .momd from its bundle.")
        }
      } else if template != nil {
        throw ValidationError("Only --as core-data has a template.")
      }
      _ = try options
    }

    /// The template as an option of the job.
    private func readTemplate() throws -> OptionValue? {
      guard let template else { return nil }
      do {
        let read = try CoreDataTemplate(contentsOf: URL(fileURLWithPath: template))
        return try JSONDecoder().decode(OptionValue.self, from: JSONEncoder().encode(read))
      } catch {
        throw LocalFailure.cantReadTemplate(path: template, reason: "\(error)")
      }
    }

    func run(_ session: Session) async throws {
      var options = try options
      options["template"] = try readTemplate()
      let store = try await session.client.storeName(store, having: entity)
      let work = JobSubmission(kind: "export", store: store, entity: entity, options: options)
      try await Submitter(session: session).run([submission.applied(to: work)], wait: submission.wait)
    }
  }
}
