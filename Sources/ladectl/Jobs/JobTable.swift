import ControlAPI
import FoundationEssentials

extension JobList {
  /// The jobs as `ladectl list` prints them.
  /// - Parameter columns: the columns that were asked for, of which none is dropped for want of room; nil for the usual ones.
  func rendered(_ columns: [JobColumn]? = nil, width: Int?, style: Style, now: Date = Date()) -> String {
    let shown = columns ?? JobColumn.standard
    let time: (Date) -> String = width == nil ? { Quantity.time($0) } : { Quantity.shortTime($0, now: now) }
    let table = TextTable(
      columns: shown.map(\.heading), rows: jobs.map { job in shown.map { $0.cell(job, time: time) } })
    return table.rendered(width: width.map { columns == nil ? $0 : max($0, table.leastWidth) }, style: style)
  }

  /// The jobs sorted by columns, the first being the most significant; the sort is stable.
  func sorted(by keys: [JobSortKey]) -> JobList {
    guard !keys.isEmpty else { return self }
    let sorted = jobs.enumerated().sorted { a, b in
      for key in keys {
        if let isBefore = key.column.isBefore(a.element, b.element, isReversed: key.isReversed) { return isBefore }
      }
      return a.offset < b.offset
    }
    return JobList(jobs: sorted.map(\.element), next: next)
  }
}

/// A column to sort by, with its direction.
struct JobSortKey: Sendable, Hashable {
  let column: JobColumn
  let isReversed: Bool
}

extension Job {
  /// Whether it completed without all of its records.
  var hasRejects: Bool { state == .completed && progress.rejected > 0 }

  /// A title for people: the job's file, or its kind and target.
  var title: String {
    source?.printable ?? [kind, store, entity].compactMap(\.self).joined(separator: " ").printable
  }
}
