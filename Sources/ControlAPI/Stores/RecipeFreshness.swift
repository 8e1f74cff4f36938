package import FoundationEssentials

/// Whether the files of a recipe come as its `expect` says.
package struct RecipeFreshness: Codable, Sendable, Hashable {
  package enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// Everything is as expected.
    case fresh
    /// The last import was of fewer records than it should have been, or of unusually many or few.
    case anomalous
    /// A file was expected by a time that has passed.
    case late
    /// The last import is longer ago than it may be.
    case stale
  }

  package var recipe: String
  package var state: State
  /// Why it isn't fresh, in words; nil where it is.
  package var reason: String?
  /// When the last import completed; nil if none has.
  package var lastSuccess: Date?
  /// The job of that import, which may have been removed.
  package var lastJob: Int64?
  /// Records that it imported, changed or not.
  package var lastRecords: Int64?
  /// By when the next file is to have been imported; nil where nothing says it.
  package var expectedBy: Date?

  package init(
    recipe: String, state: State = .fresh, reason: String? = nil, lastSuccess: Date? = nil, lastJob: Int64? = nil,
    lastRecords: Int64? = nil, expectedBy: Date? = nil
  ) {
    self.recipe = recipe
    self.state = state
    self.reason = reason
    self.lastSuccess = lastSuccess
    self.lastJob = lastJob
    self.lastRecords = lastRecords
    self.expectedBy = expectedBy
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case recipe, state, reason
    case lastSuccess = "last_success"
    case lastJob = "last_job"
    case lastRecords = "last_records"
    case expectedBy = "expected_by"
  }
}
