/// One rejected record: what `GET /v1/jobs/ID/rejects/NUMBER` answers.
package struct Reject: Codable, Sendable, Hashable {
  /// A part of the record, in bytes.
  package struct ByteRange: Codable, Sendable, Hashable {
    package var offset: Int
    package var length: Int

    package init(offset: Int, length: Int) {
      self.offset = offset
      self.length = length
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case offset, length }
  }

  /// Its number in the job, from 1.
  package var number: Int64
  /// The name of its file in the folder of a feed's rejects.
  package var file: String?
  /// The line in the source, from 1; of a source without lines, the record's number.
  package var line: Int64
  /// The column or attribute at fault; empty when it is the whole record.
  package var column: String
  /// The reason's short name, such as `not_an_integer`.
  package var code: String
  /// The reason in words.
  package var message: String
  /// The record as it was in the source, or the beginning of a long one.
  package var record: String
  /// Its length in bytes.
  package var recordBytes: Int
  /// Where the faulty cell is in it; nil where the value isn't there as it is.
  package var cell: ByteRange?
  /// Whether it can be read as it is. If not, only its text was kept, perhaps not all of it.
  package var isReadable: Bool
  /// The job that has resolved it; nil while it is open.
  package var resolvedBy: Int64?

  package init(
    number: Int64, file: String? = nil, line: Int64, column: String, code: String, message: String, record: String,
    recordBytes: Int, cell: ByteRange? = nil, isReadable: Bool = true, resolvedBy: Int64? = nil
  ) {
    self.number = number
    self.file = file
    self.line = line
    self.column = column
    self.code = code
    self.message = message
    self.record = record
    self.recordBytes = recordBytes
    self.cell = cell
    self.isReadable = isReadable
    self.resolvedBy = resolvedBy
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case number, file, line, column, code, message, record
    case recordBytes = "record_bytes"
    case cell
    case isReadable = "readable"
    case resolvedBy = "resolved_by"
  }
}

/// Open rejects of a job: what `GET /v1/jobs/ID/rejects/open` answers.
package struct RejectPage: Codable, Sendable, Hashable {
  package var rejects: [Reject]
  /// The attempt of the job that rejected them. The next one numbers other records.
  package var attempt: Int
  /// The names of the columns, of a source whose records don't have them.
  package var columns: [String]
  /// For the next page: the number after which it begins; nil after the last.
  package var next: Int64?

  package init(rejects: [Reject], attempt: Int, columns: [String] = [], next: Int64? = nil) {
    self.rejects = rejects
    self.attempt = attempt
    self.columns = columns
    self.next = next
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case rejects, attempt, columns, next }
}

/// The parameters of `GET /v1/jobs/ID/rejects/open`.
package struct RejectQuery: Sendable, Hashable {
  package static let maximumLimit = 1_000
  /// Only rejects with greater numbers.
  package var after: Int64 = 0
  /// How many at most.
  package var limit = 100
  /// The attempt whose rejects are meant, as ``RejectPage/attempt`` says; nil: the last.
  package var attempt: Int?

  package init() {}

  /// - Throws: ``QueryError``.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["after", "limit", "attempt"])
    after = try query.integer("after", in: 0...Int64.max) ?? after
    limit = try query.integer("limit", in: 1...Int64(Self.maximumLimit)).map(Int.init) ?? limit
    attempt = try query.integer("attempt", in: 0...Int64(Int32.max)).map(Int.init)
  }

  /// The query as it is sent.
  package var queryString: QueryString {
    var query = QueryString()
    query["after"] = String(after)
    query["limit"] = String(limit)
    query["attempt"] = attempt.map { String($0) }
    return query
  }
}

/// A reject to be retried.
package struct RejectCorrection: Codable, Sendable, Hashable {
  package var number: Int64
  /// The corrected record, in the format of the source; nil: as it is.
  package var record: String?

  package init(number: Int64, record: String? = nil) {
    self.number = number
    self.record = record
  }

  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    number = try body.decode(Int64.self, forKey: .number)
    record = try body.decodeIfPresent(String.self, forKey: .record)
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case number, record }
}

/// Which rejects to retry, or to check: the body of `POST /v1/jobs/ID/rejects/retry` and `…/check`.
package struct RejectRetryRequest: Codable, Sendable, Hashable {
  /// The most records that one request names.
  package static let mostRecords = 1_000

  /// nil: all that are open and readable.
  package var records: [RejectCorrection]?
  /// The attempt whose rejects the records are, as ``RejectPage/attempt`` says; nil: the last.
  package var attempt: Int?
  /// Whether the job does everything except the commit.
  package var isDryRun: Bool

  package init(records: [RejectCorrection]? = nil, attempt: Int? = nil, isDryRun: Bool = false) {
    self.records = records
    self.attempt = attempt
    self.isDryRun = isDryRun
  }

  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    records = try body.decodeIfPresent([RejectCorrection].self, forKey: .records)
    attempt = try body.decodeIfPresent(Int.self, forKey: .attempt)
    isDryRun = try body.decodeIfPresent(Bool.self, forKey: .isDryRun) ?? false
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case records, attempt
    case isDryRun = "dry_run"
  }
}

/// What a retry would leave open: what `POST /v1/jobs/ID/rejects/check` answers.
package struct RejectCheck: Codable, Sendable, Hashable {
  /// How many records would be resolved.
  package var resolved: Int64
  /// Those that would be rejected again, with today's reasons; a thousand at most.
  package var rejects: [Reject]
  /// Why the import as a whole would fail.
  package var failure: String?

  package init(resolved: Int64, rejects: [Reject], failure: String? = nil) {
    self.resolved = resolved
    self.rejects = rejects
    self.failure = failure
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case resolved, rejects, failure }
}
