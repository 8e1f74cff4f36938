import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl fetch`: prints objects of an entity.
  struct Fetch: ControlCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
      case table
      case csv
      case json
    }

    static let configuration = verb(
      "fetch", "Show objects of an entity.",
      """
      With --watch it keeps running and shows insertions, deletions and changes: on a terminal as a full-screen table, in a \
      pipe as lines that begin with +, - or ~.

        ladectl fetch Stop --where "trip.route.name BEGINSWITH 'L'" --sort name,-id --columns id,name
        ladectl fetch Order --where "state == 'open'" --sort -placed --watch
      """,
      json: .either("an ObjectPage", "a WatchResult on one line, then a WatchChanges a line", when: "with --watch"))

    @Argument(help: "The entity.", completion: .entities)
    var entity: String

    @Option(name: .customLong("where"), help: ArgumentHelp("Select objects by a predicate.", valueName: "predicate"))
    var predicate: String?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Attributes to sort by, separated by commas; - sorts descending.", valueName: "name,-age"),
      transform: { try Ladectl.sortKeys($0) })
    var sort: [SortKey]?

    @Option(
      help: ArgumentHelp("Maximum number of objects, up to \(ObjectQuery.maximumLimit) (default: 100).", valueName: "n")
    )
    var limit: Int?

    @Option(help: ArgumentHelp("Number of objects to skip.", valueName: "n"))
    var offset = 0

    @Option(help: ArgumentHelp("The store, if several have the entity.", valueName: "name"), completion: .stores)
    var store: String?

    @Option(
      help: ArgumentHelp(
        "Columns to show, separated by commas; key paths are allowed (default: all attributes).",
        valueName: "a,b.c"))
    var columns: String?

    @Option(help: "The output format.")
    var format: Format = .table

    @Flag(help: "Keep running and show changes.")
    var watch = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard limit.map({ (1...ObjectQuery.maximumLimit).contains($0) }) ?? true else {
        throw ValidationError("--limit is a number from 1 to \(ObjectQuery.maximumLimit).")
      }
      guard offset >= 0 else { throw ValidationError("--offset is a number from 0.") }
      guard watch else { return }
      guard offset == 0 else {
        throw ValidationError("--watch begins with the first object: --offset doesn't go with it.")
      }
      guard format != .csv else {
        throw ValidationError("--watch goes with a table or JSON, for what goes has no line in CSV.")
      }
      guard limit ?? 1 <= WatchQuery.maximumLimit else {
        throw ValidationError("--watch shows up to \(WatchQuery.maximumLimit) objects.")
      }
    }

    func run(_ session: Session) async throws {
      let columns = columns?.split(separator: ",").map(String.init) ?? []
      if watch {
        let query = WatchQuery(
          entity: entity, store: store, predicate: predicate, sort: sort ?? [], limit: limit, columns: columns)
        let json = session.json || format == .json
        return try await FetchWatch(
          session: Session(client: session.client, terminal: session.terminal, json: json), query: query
        ).run()
      }
      let page = try await session.client.objects(
        ObjectQuery(
          entity: entity, store: store, predicate: predicate, sort: sort ?? [], limit: limit ?? 100, offset: offset,
          columns: columns))
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
