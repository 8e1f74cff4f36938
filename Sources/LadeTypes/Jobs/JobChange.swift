/// What to do with many jobs at once: the body of `POST /v1/jobs/change`.
package struct JobChange: Codable, Sendable, Hashable {
  package enum Action: String, Codable, Sendable, Hashable, CaseIterable {
    case cancel, retry, hold, release, priority, remove
  }

  package var action: Action
  /// Which jobs; that are all jobs only where ``isForAll`` says so.
  package var filter: JobSelection
  /// For ``Action/priority``: the higher, the earlier.
  package var priority: Int?
  /// Whether a filter that says nothing is meant so.
  package var isForAll: Bool

  /// A change of the jobs that a filter finds.
  package init(_ action: Action, _ filter: JobSelection, priority: Int? = nil, isForAll: Bool = false) {
    self.action = action
    self.filter = filter
    self.priority = priority
    self.isForAll = isForAll
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case action, filter, priority
    case isForAll = "all"
  }

  /// Reads one; `priority` and `all` may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try body.decode(Action.self, forKey: .action), try body.decode(JobSelection.self, forKey: .filter),
      priority: try body.decodeIfPresent(Int.self, forKey: .priority),
      isForAll: try body.decodeIfPresent(Bool.self, forKey: .isForAll) ?? false)
  }
}

/// The body of `PUT /v1/jobs/{id}/priority`.
package struct PriorityChange: Codable, Sendable, Hashable {
  /// The higher, the earlier.
  package var priority: Int

  package init(priority: Int) { self.priority = priority }

  package enum CodingKeys: String, CodingKey, CaseIterable { case priority }

  /// Reads one.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    self.init(priority: try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .priority))
  }
}
