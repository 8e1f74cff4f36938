import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl list`: lists jobs, newest first.
  struct List: ControlCommand {
    static let configuration = verb(
      "list", "List jobs, newest first.",
      """
      Columns: \(JobColumn.allCases.map(\.rawValue).joined(separator: ", ")). Where a terminal has no room for all of the usual \
      columns, the less important ones are left out; those named by --columns are all shown. --sort orders the listed jobs: \
      to find the longest of all jobs, use --all.

        ladectl list --state running,available --lane import
        ladectl list --columns id,source,took,reason --sort -took --all
      """, json: .document("a JobList"))

    @OptionGroup var filter: FilterOptions

    @Option(
      help: ArgumentHelp("Columns to show, separated by commas.", valueName: "column,…"),
      completion: .list(JobColumn.allCases.map(\.rawValue)), transform: { try Ladectl.columns($0) })
    var columns: [JobColumn]?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Columns to sort by, separated by commas; - sorts descending.", valueName: "column,…"),
      completion: .list(JobColumn.allCases.map(\.rawValue)), transform: { try Ladectl.sortColumns($0) })
    var sort: [JobSortKey]?

    @Option(
      help: ArgumentHelp("Maximum number of jobs, up to \(JobQuery.maximumLimit) (default: 50).", valueName: "n"))
    var limit: Int?

    @Flag(help: "All jobs, however many there are.")
    var all = false

    @Option(
      help: ArgumentHelp("Only jobs older than this one, to continue a list.", valueName: "job"),
      completion: .jobs)
    var olderThan: Int64?

    @Flag(help: "Oldest first.")
    var oldest = false

    @Option(
      help: ArgumentHelp("Only jobs newer than this one; use with --oldest.", valueName: "job"), completion: .jobs)
    var newerThan: Int64?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard limit.map({ (1...JobQuery.maximumLimit).contains($0) }) ?? true else {
        throw ValidationError("--limit is a number from 1 to \(JobQuery.maximumLimit).")
      }
      guard limit == nil || !all else { throw ValidationError("--all lists all jobs: --limit doesn't go with it.") }
    }

    func run(_ session: Session) async throws {
      let query = JobQuery(
        filter.selection, limit: limit ?? 50, before: olderThan, after: newerThan, order: oldest ? .oldest : .newest)
      let found = try await all ? session.client.allJobs(query) : session.client.jobs(query)
      let list = found.sorted(by: sort ?? [])
      let head = session.json ? nil : try await session.client.lanes().headLine
      try session.report(list) {
        let head = head.map { session.terminal.style($0, .yellow) + "\n" } ?? ""
        guard !list.jobs.isEmpty else { return head + "No jobs.\n" }
        return head + list.rendered(columns, width: session.terminal.width, style: session.terminal.style)
      }
      if let next = list.next, !session.json {
        session.remark("there are more: \(oldest ? "--newer-than" : "--older-than") \(next), or --all")
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
