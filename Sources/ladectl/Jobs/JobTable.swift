import ControlAPI

extension JobList {
  /// The jobs as `ladectl list` shows them.
  func table(_ columns: [JobColumn] = JobColumn.standard) -> TextTable {
    TextTable(columns: columns.map(\.heading), rows: jobs.map { job in columns.map { $0.cell(job) } })
  }

  /// The jobs in the order of columns, of which the first counts most; where none tells, as they were.
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

/// A column to sort by, and which way.
struct JobSortKey: Sendable, Hashable {
  let column: JobColumn
  let isReversed: Bool
}
