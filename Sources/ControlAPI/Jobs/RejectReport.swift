/// The records that a job rejected, grouped by reason: what `GET /v1/jobs/ID/rejects` answers.
package struct RejectReport: Codable, Sendable, Hashable {
  /// One rejected record.
  package struct Example: Codable, Sendable, Hashable {
    /// The line in the source, from 1; of a source without lines, the record's number.
    package var line: Int64
    /// The reason in words.
    package var message: String
    /// The beginning of the record as it stands in the reject file.
    package var record: String

    package init(line: Int64, message: String, record: String) {
      self.line = line
      self.message = message
      self.record = record
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case line, message, record }
  }

  /// The records that were rejected for one reason in one column.
  package struct Group: Codable, Sendable, Hashable {
    /// The reason's short name, such as `not_an_integer`.
    package var code: String
    /// The column or attribute at fault; empty when it is the whole record.
    package var column: String
    package var count: Int64
    /// The first of them.
    package var examples: [Example]

    package init(code: String, column: String, count: Int64, examples: [Example]) {
      self.code = code
      self.column = column
      self.count = count
      self.examples = examples
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case code, column, count, examples }
  }

  /// The job.
  package var job: Int64
  /// The path of the reject file, which can be corrected and imported; nil when the job has rejected nothing.
  package var file: String?
  /// Whether it is a folder with a file for each of a feed's.
  package var isFolder: Bool
  package var count: Int64
  /// The most frequent first.
  package var groups: [Group]
  /// Records for reasons that weren't kept apart, there being too many of them.
  package var others: Int64

  package init(
    job: Int64, file: String? = nil, isFolder: Bool = false, count: Int64 = 0, groups: [Group] = [], others: Int64 = 0
  ) {
    self.job = job
    self.file = file
    self.isFolder = isFolder
    self.count = count
    self.groups = groups
    self.others = others
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case job, file
    case isFolder = "is_folder"
    case count, groups, others
  }
}
