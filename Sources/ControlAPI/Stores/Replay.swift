package import Foundation

/// Which files of a recipe to import again: the body of `POST /v1/recipes/{recipe}/replay`.
package struct ReplayRequest: Codable, Sendable, Hashable {
  /// Files that were submitted at this time or later.
  package var since: Date
  /// Files that were submitted before this time; nil for all since.
  package var until: Date?
  /// The lane of the jobs; nil for the recipe's.
  package var lane: String?
  /// The priority of the jobs; nil for one below what else waits.
  package var priority: Int?
  /// Whether no job is made.
  package var isDryRun: Bool

  package init(
    since: Date, until: Date? = nil, lane: String? = nil, priority: Int? = nil, isDryRun: Bool = false
  ) {
    self.since = since
    self.until = until
    self.lane = lane
    self.priority = priority
    self.isDryRun = isDryRun
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case since, until, lane, priority
    case isDryRun = "dry_run"
  }

  /// Reads one; all but `since` may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      since: try body.decode(Date.self, forKey: .since), until: try body.decodeIfPresent(Date.self, forKey: .until),
      lane: try body.decodeIfPresent(String.self, forKey: .lane),
      priority: try body.decodeIfPresent(Int.self, forKey: .priority),
      isDryRun: try body.decodeIfPresent(Bool.self, forKey: .isDryRun) ?? false)
  }
}

/// A file that was imported once.
package struct ReplayFile: Codable, Sendable, Hashable {
  /// The job that imported it.
  package var job: Int64
  /// Its name as it was submitted.
  package var source: String
  /// When it was submitted.
  package var submittedAt: Date
  /// The job that imports it again.
  package var replay: Int64?

  package init(job: Int64, source: String, submittedAt: Date, replay: Int64? = nil) {
    self.job = job
    self.source = source
    self.submittedAt = submittedAt
    self.replay = replay
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case job, source
    case submittedAt = "submitted_at"
    case replay
  }
}

/// What a replay does, or would do: the answer of `POST /v1/recipes/{recipe}/replay`.
package struct ReplayResult: Codable, Sendable, Hashable {
  package var recipe: String
  package var isDryRun: Bool
  /// The batch of the jobs; nil if none was made.
  package var batch: Int64?
  /// Whether that is one of before, which hasn't ended.
  package var isOld: Bool
  /// The files in the order in which they are imported.
  package var files: [ReplayFile]
  /// Files that aren't kept any more, or never were.
  package var missing: [ReplayFile]
  /// Remarks for a person.
  package var notes: [String]

  package init(
    recipe: String, isDryRun: Bool, batch: Int64? = nil, isOld: Bool = false, files: [ReplayFile] = [],
    missing: [ReplayFile] = [], notes: [String] = []
  ) {
    self.recipe = recipe
    self.isDryRun = isDryRun
    self.batch = batch
    self.isOld = isOld
    self.files = files
    self.missing = missing
    self.notes = notes
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case recipe
    case isDryRun = "dry_run"
    case batch
    case isOld = "old"
    case files, missing, notes
  }
}
