/// The lanes: what `GET /v1/lanes`, `POST /v1/lanes/pause` and `POST /v1/lanes/resume` answer.
package struct LaneList: Codable, Sendable, Hashable {
  package var lanes: [Lane]

  package init(lanes: [Lane]) { self.lanes = lanes }

  package enum CodingKeys: String, CodingKey, CaseIterable { case lanes }
}

/// The body of `PUT /v1/lanes/{lane}/concurrency`.
package struct ConcurrencyChange: Codable, Sendable, Hashable {
  /// How many jobs at once, within ``LaneConfiguration/concurrencyRange``; nil for the configured number.
  package var concurrency: Int?

  package init(concurrency: Int?) { self.concurrency = concurrency }

  package enum CodingKeys: String, CodingKey, CaseIterable { case concurrency }

  /// Reads one.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    guard body.contains(.concurrency) else {
      throw DecodingError.keyNotFound(
        CodingKeys.concurrency, .init(codingPath: decoder.codingPath, debugDescription: "it isn't there"))
    }
    self.init(concurrency: try body.decodeIfPresent(Int.self, forKey: .concurrency))
  }

  /// Writes it; nil as null, for a body must say what it wants.
  package func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: CodingKeys.self)
    try body.encode(concurrency, forKey: .concurrency)
  }
}

/// The schedules: what `GET /v1/schedules` answers.
package struct ScheduleList: Codable, Sendable, Hashable {
  package var schedules: [Schedule]

  package init(schedules: [Schedule]) { self.schedules = schedules }

  package enum CodingKeys: String, CodingKey, CaseIterable { case schedules }
}
