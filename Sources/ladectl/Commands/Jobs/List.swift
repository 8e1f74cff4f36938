import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl list`: lists jobs, newest first.
  struct List: ControlCommand {
    static let configuration = verb(
      "list", "List jobs, newest first.",
      """
      Columns: \(JobColumn.allCases.map(\.rawValue).joined(separator: ", ")). --sort orders the listed jobs: to find the \
      longest of all jobs, use a --limit that covers them all.

        ladectl list --state running,available --lane import
        ladectl list --columns id,source,took,reason --sort -took --limit 1000
      """, json: .document("a JobList"))

    @OptionGroup(title: "Filter") var filter: FilterOptions

    @Option(
      help: ArgumentHelp("Columns to show, separated by commas.", valueName: "column,…"),
      completion: .list(JobColumn.allCases.map(\.rawValue)), transform: { try Ladectl.columns($0) })
    var columns: [JobColumn]?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Columns to sort by, separated by commas; - sorts descending.", valueName: "column,…"),
      completion: .list(JobColumn.allCases.map(\.rawValue)), transform: { try Ladectl.sortColumns($0) })
    var sort: [JobSortKey]?

    @Option(help: ArgumentHelp("Maximum number of jobs, up to \(JobQuery.maximumLimit).", valueName: "n"))
    var limit = 50

    @Option(
      help: ArgumentHelp("Only jobs older than this one, to continue a list.", valueName: "job"),
      completion: .jobs)
    var before: Int64?

    @Flag(help: "Oldest first.")
    var oldest = false

    @Option(
      help: ArgumentHelp("Only jobs newer than this one; use with --oldest.", valueName: "job"), completion: .jobs)
    var after: Int64?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard (1...JobQuery.maximumLimit).contains(limit) else {
        throw ValidationError("--limit is a number from 1 to \(JobQuery.maximumLimit).")
      }
    }

    func run(_ session: Session) async throws {
      let query = JobQuery(
        filter.selection, limit: limit, before: before, after: after, order: oldest ? .oldest : .newest)
      let list = try await session.client.jobs(query).sorted(by: sort ?? [])
      try session.report(list) {
        guard !list.jobs.isEmpty else { return "No jobs.\n" }
        let table = list.table(columns ?? JobColumn.standard)
        let text = table.rendered(width: session.terminal.width, style: session.terminal.style)
        let more = list.next.map { "There are more: \(oldest ? "--after" : "--before") \($0)\n" } ?? ""
        return text + session.terminal.style(more, .dim)
      }
    }
  }

  /// Reads `id,state`.
  fileprivate static func columns(_ text: String) throws -> [JobColumn] {
    let columns = try text.split(separator: ",").map { try column(String($0)) }
    guard !columns.isEmpty else { throw ValidationError("--columns names none.") }
    return columns
  }

  /// Reads `-took,id`.
  fileprivate static func sortColumns(_ text: String) throws -> [JobSortKey] {
    try text.split(separator: ",").map { word in
      let isReversed = word.hasPrefix("-")
      return JobSortKey(column: try column(String(word.drop { $0 == "-" })), isReversed: isReversed)
    }
  }

  private static func column(_ name: String) throws -> JobColumn {
    guard let column = JobColumn(rawValue: name) else {
      let known = JobColumn.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("'\(name)' isn't a column; there are \(known).")
    }
    return column
  }
}
