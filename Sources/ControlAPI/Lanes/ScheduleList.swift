/// The schedules: what `GET /v1/schedules` answers.
package struct ScheduleList: Codable, Sendable, Hashable {
  package var schedules: [Schedule]

  package init(schedules: [Schedule]) { self.schedules = schedules }

  package enum CodingKeys: String, CodingKey, CaseIterable { case schedules }
}
