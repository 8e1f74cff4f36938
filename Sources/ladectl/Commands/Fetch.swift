import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl fetch`: objects of an entity.
  struct Fetch: ControlCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
      case table
      case csv
      case json
    }

    static let configuration = CommandConfiguration(
      abstract: "Show objects of an entity.",
      discussion: """
        For example: ladectl fetch Stop --where "trip.route.name BEGINSWITH 'L'" --sort name,-id --columns id,name
        """)

    @Argument(help: "The entity.")
    var entity: String

    @Option(name: .customLong("where"), help: ArgumentHelp("Which objects.", valueName: "predicate"))
    var predicate: String?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Attributes to sort by, with commas between; - for the greatest first.", valueName: "name,-age"),
      transform: { try Ladectl.sortKeys($0) })
    var sort: [SortKey]?

    @Option(help: ArgumentHelp("How many at most, up to \(ObjectQuery.maximumLimit).", valueName: "n"))
    var limit = 100

    @Option(help: ArgumentHelp("How many to leave out first.", valueName: "n"))
    var offset = 0

    @Option(help: ArgumentHelp("The store, where several have the entity.", valueName: "name"))
    var store: String?

    @Option(
      help: ArgumentHelp(
        "What to show, with commas between; also over relationships. Every attribute when not given.",
        valueName: "a,b.c"))
    var columns: String?

    @Option(help: "The form of the output.")
    var format: Format = .table

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let page = try await session.client.objects(
        ObjectQuery(
          entity: entity, store: store, predicate: predicate, sort: sort ?? [], limit: limit, offset: offset,
          columns: columns?.split(separator: ",").map(String.init) ?? []))
      switch session.json ? .json : format {
      case .json: session.terminal.write(try JSONText.of(page))
      case .csv: session.terminal.write(page.csv)
      case .table:
        session.terminal.write(page.table.rendered(width: session.terminal.width, style: session.terminal.style))
        session.terminal.write(session.terminal.style(page.summary(offset: offset), .dim))
      }
    }
  }

  /// Reads `name,-age`.
  fileprivate static func sortKeys(_ text: String) throws -> [SortKey] {
    do {
      return try text.split(separator: ",").map { try SortKey(String($0)) }
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
