import ControlAPI

extension JobList {
  /// The jobs as `ladectl list` prints them.
  func table(_ columns: [JobColumn] = JobColumn.standard) -> TextTable {
    TextTable(columns: columns.map(\.heading), rows: jobs.map { job in columns.map { $0.cell(job) } })
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
