/// What a job of the kind `change` does, and to which jobs.
package struct ChangeOptions: OperationOptions, Equatable {
  package var action: JobChange.Action
  /// For ``JobChange/Action/priority``: the higher, the earlier.
  package var priority: Int?
  package var filter: JobSelection
  /// Only jobs that any of these handed in; nil for all. Who asked may change no others, so this was decided when they asked,
  /// and takes the place of the filter's `submittedBy`.
  package var submitters: [String]?

  /// - Parameter submitters: the `submittedBy` of jobs that may be changed; nil for all.
  package init(_ change: JobChange, submitters: [String]?) {
    action = change.action
    priority = change.priority
    filter = change.filter
    self.submitters = submitters
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case action, priority, filter, submitters }

  /// The jobs, a page at a time, the newest first.
  /// - Parameter before: only jobs with smaller numbers.
  func page(before: Int64, limit: Int) -> JobFilter {
    var page = JobFilter(filter)
    page.submitters = submitters
    page.before = before
    page.limit = limit
    return page
  }
}

extension JobChange.Action {
  /// What has become of a job, as in “12 jobs were cancelled”.
  package var participle: String {
    switch self {
    case .cancel: "cancelled"
    case .retry: "retried"
    case .hold: "held"
    case .release: "released"
    case .priority: "given another priority"
    case .remove: "removed"
    }
  }
}
