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
      A table shows 100 objects, and standard error says how to see more; CSV and JSON hold all of them. --format json is an \
      array of objects, as an import takes it. Pages of 10,000 are read one after the other, while others may write; \
      'ladectl export' reads one state of the store.

      With --watch it keeps running and shows insertions, deletions and changes: on a terminal as a full-screen table, in a \
      pipe as lines that begin with +, - or ~.

        ladectl fetch Stop --where "trip.route.name BEGINSWITH 'L'" \\
          --sort name,-id --columns id,name
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
        "Attributes and counts to sort by, separated by commas; - sorts descending.", valueName: "name,-age"),
      completion: .properties, transform: { try Ladectl.sortKeys($0) })
    var sort: [SortKey]?

    @Option(
      help: ArgumentHelp("Maximum number of objects (default: 100 in a table, otherwise all).", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("Number of objects to skip.", valueName: "n"))
    var offset = 0

    @Option(help: ArgumentHelp("The store, if several have the entity.", valueName: "name"), completion: .stores)
    var store: String?

    @Option(
      help: ArgumentHelp(
        "Columns to show, separated by commas; key paths and relationship.@count are allowed (default: all attributes).",
        valueName: "a,b.c"), completion: .properties)
    var columns: String?

    @Option(help: "The output format.")
    var format: Format = .table

    @Flag(help: "Keep running and show changes.")
    var watch = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard limit.map({ $0 > 0 }) ?? true else { throw ValidationError("--limit is a number from 1.") }
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
      let pages = ObjectPages(
        client: session.client,
        query: ObjectQuery(
          entity: entity, store: store, predicate: predicate, sort: sort ?? [], offset: offset, columns: columns))
      if session.json { return session.terminal.writeData(try JSONText.of(try await pages.whole(limit: limit))) }
      switch format {
      case .table: try await writeTable(pages, session)
      case .csv:
        var isFirst = true
        let next = try await pages.each(limit: limit) { page in
          session.terminal.writeData((isFirst ? CSVText.line(page.columns) : "") + page.csvRows)
          isFirst = false
        }
        if let next { session.remark("more: --offset \(next)") }
      case .json:
        var isFirst = true
        let next = try await pages.each(limit: limit) { page in
          let objects = try page.objects.joined(separator: ",\n")
          guard !objects.isEmpty else { return }
          session.terminal.writeData((isFirst ? "[\n" : ",\n") + objects)
          isFirst = false
        }
        session.terminal.write(isFirst ? "[]\n" : "\n]\n")
        if let next { session.remark("more: --offset \(next)") }
      }
    }

    private func writeTable(_ pages: ObjectPages, _ session: Session) async throws {
      var shown = 0
      var dropped: [String] = []
      let next = try await pages.each(limit: limit ?? 100) { page in
        guard shown == 0 || !page.rows.isEmpty else { return }
        let table = page.table
        session.terminal.write(table.rendered(width: session.terminal.width, style: session.terminal.style))
        dropped = table.dropped(at: session.terminal.width)
        shown += page.rows.count
      }
      var summary = ObjectPage.summary(offset: offset, count: shown, next: next)
      if !dropped.isEmpty { summary += "; not shown: \(dropped.joined(separator: ", ").printable)" }
      session.remark(summary)
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
