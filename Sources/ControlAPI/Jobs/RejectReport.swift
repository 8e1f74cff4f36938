/// The records that a job rejected, grouped by reason: what `GET /v1/jobs/ID/rejects` answers.
package struct RejectReport: Codable, Sendable, Hashable {
  /// One rejected record.
  package struct Example: Codable, Sendable, Hashable {
    /// Its number in the job, from 1.
    package var number: Int64
    /// The job that has resolved it; nil while it is open.
    package var resolvedBy: Int64?
    /// The line in the source, from 1; of a source without lines, the record's number.
    package var line: Int64
    /// The reason in words.
    package var message: String
    /// The beginning of the record as it stands in the reject file.
    package var record: String

    package init(number: Int64 = 0, line: Int64, message: String, record: String) {
      self.number = number
      self.line = line
      self.message = message
      self.record = record
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case number
      case resolvedBy = "resolved_by"
      case line, message, record
    }
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

  /// A job that has resolved some of them.
  package struct Resolver: Codable, Sendable, Hashable {
    package var job: Int64
    package var count: Int64

    package init(job: Int64, count: Int64) {
      self.job = job
      self.count = count
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case job, count }
  }

  /// The job.
  package var job: Int64
  /// How many of the records no retry has resolved.
  package var open: Int64 = 0
  /// The jobs that have resolved the others, oldest first.
  package var resolved: [Resolver] = []
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
    open = count
    self.groups = groups
    self.others = others
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case job, file
    case isFolder = "is_folder"
    case count, open, resolved, groups, others
  }
}
