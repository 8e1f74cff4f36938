/// The paths of version 1 of the control interface, for both sides.
package enum Endpoint: Sendable, Hashable {
  case status
  case stats
  /// The daemon's log; with `follow=true` as server-sent events.
  case log
  /// Reads the configuration file again, and says what is wrong with it.
  case checkConfiguration
  /// Reads the configuration again, and puts it in force.
  case reload
  /// The description of this interface, an OpenAPI document.
  case description
  /// What is measured, as Prometheus reads it.
  case metrics
  /// Whether everything that a job passes answers.
  case health
  /// Whether work is taken in.
  case ready

  case jobs
  /// Makes many jobs with one request.
  case manyJobs
  /// Changes many jobs at once.
  case changeJobs
  case job(Int64)
  case cancelJob(Int64)
  case retryJob(Int64)
  case holdJob(Int64)
  case releaseJob(Int64)
  case jobPriority(Int64)
  /// Why a job rejected records.
  case rejects(Int64)
  /// One job's changes, as server-sent events.
  case jobEvents(Int64)
  /// Every job's changes, as server-sent events.
  case allJobEvents
  case batches
  case batch(Int64)

  case lanes
  case pauseLanes
  case resumeLanes
  case pauseLane(String)
  case resumeLane(String)
  case laneConcurrency(String)
  case schedules

  case recipes
  /// Tries a file without making a job.
  case testRecipe
  case stores
  case store(String)
  case objects(entity: String)
  case count(entity: String)
  /// A standing query, as server-sent events.
  case watch

  /// The path to send.
  package var path: String {
    switch self {
    case .status: "/v1/status"
    case .stats: "/v1/stats"
    case .log: "/v1/log"
    case .checkConfiguration: "/v1/config/check"
    case .reload: "/v1/reload"
    case .description: "/v1/openapi.yaml"
    case .metrics: "/metrics"
    case .health: "/v1/health"
    case .ready: "/v1/ready"
    case .jobs: "/v1/jobs"
    case .manyJobs: "/v1/jobs/many"
    case .changeJobs: "/v1/jobs/change"
    case .job(let id): "/v1/jobs/\(id)"
    case .cancelJob(let id): "/v1/jobs/\(id)/cancel"
    case .retryJob(let id): "/v1/jobs/\(id)/retry"
    case .holdJob(let id): "/v1/jobs/\(id)/hold"
    case .releaseJob(let id): "/v1/jobs/\(id)/release"
    case .jobPriority(let id): "/v1/jobs/\(id)/priority"
    case .rejects(let id): "/v1/jobs/\(id)/rejects"
    case .jobEvents(let id): "/v1/jobs/\(id)/events"
    case .allJobEvents: "/v1/jobs/events"
    case .batches: "/v1/batches"
    case .batch(let id): "/v1/batches/\(id)"
    case .lanes: "/v1/lanes"
    case .pauseLanes: "/v1/lanes/pause"
    case .resumeLanes: "/v1/lanes/resume"
    case .pauseLane(let name): "/v1/lanes/\(QueryString.percentEncoded(name))/pause"
    case .resumeLane(let name): "/v1/lanes/\(QueryString.percentEncoded(name))/resume"
    case .laneConcurrency(let name): "/v1/lanes/\(QueryString.percentEncoded(name))/concurrency"
    case .schedules: "/v1/schedules"
    case .recipes: "/v1/recipes"
    case .testRecipe: "/v1/recipes/test"
    case .stores: "/v1/stores"
    case .store(let name): "/v1/stores/\(QueryString.percentEncoded(name))"
    case .objects(let entity): "/v1/objects/\(QueryString.percentEncoded(entity))"
    case .count(let entity): "/v1/count/\(QueryString.percentEncoded(entity))"
    case .watch: "/v1/watch"
    }
  }
}
