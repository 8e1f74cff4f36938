/// The paths of version 1 of the control interface, for both sides.
package enum Endpoint: Sendable, Hashable {
  case status
  case jobs
  case job(Int64)
  case cancelJob(Int64)
  /// Why a job rejected records.
  case rejects(Int64)
  /// One job's changes, as server-sent events.
  case jobEvents(Int64)
  /// Every job's changes, as server-sent events.
  case allJobEvents
  case objects(entity: String)
  case count(entity: String)

  /// The path to send.
  package var path: String {
    switch self {
    case .status: "/v1/status"
    case .jobs: "/v1/jobs"
    case .job(let id): "/v1/jobs/\(id)"
    case .cancelJob(let id): "/v1/jobs/\(id)/cancel"
    case .rejects(let id): "/v1/jobs/\(id)/rejects"
    case .jobEvents(let id): "/v1/jobs/\(id)/events"
    case .allJobEvents: "/v1/jobs/events"
    case .objects(let entity): "/v1/objects/\(QueryString.percentEncoded(entity))"
    case .count(let entity): "/v1/count/\(QueryString.percentEncoded(entity))"
    }
  }
}
