/// The paths of version 1 of the control interface. Clients send them, and the server builds its routes from them.
package enum Endpoint: Sendable, Hashable {
  case status
  case stats
  /// What was done in the last hours.
  case history
  /// The file systems that are written to.
  case disks
  /// The daemons that work on the queue.
  case daemons
  /// The daemon's log; with `follow=true` as server-sent events.
  case log
  /// What the layers of the configuration say.
  case configuration
  /// Checks the configuration file.
  case checkConfiguration
  /// Applies a changed configuration.
  case reload
  /// Makes a link to the pages.
  case webSession
  /// The description of this interface, an OpenAPI document.
  case description
  /// The metrics, in Prometheus' text format.
  case metrics
  /// Whether every part that a job needs responds.
  case health
  /// Whether the daemon accepts work.
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
  /// One rejected record.
  case reject(Int64, number: Int64)
  /// All rejected records as one file.
  case rejectFile(Int64)
  /// The rejected records that no retry has resolved.
  case openRejects(Int64)
  /// Imports corrected records without writing.
  case checkRejects(Int64)
  /// Makes a job that imports rejected records again.
  case retryRejects(Int64)
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
  /// Makes a job of a schedule now.
  case runSchedule(String)
  /// Leaves out what passes of a schedule's calendar from now on.
  case pauseSchedule(String)
  /// Resumes a paused schedule.
  case resumeSchedule(String)

  case recipes
  /// What the configuration says of a recipe, and where a client saves one.
  case recipe(String)
  /// The columns of a file, and what they may become.
  case fileColumns
  /// Tries a recipe on a file without making a job.
  case testRecipe
  /// Compares a file with its model.
  case diffModel
  /// Imports files of a recipe again.
  case replay(recipe: String)
  /// How far a recipe has read its database.
  case cursor(recipe: String)
  case stores
  case store(String)
  /// The versions of a store's model.
  case modelVersions(store: String)
  /// The backups of a store.
  case backups(store: String)
  case objects(entity: String)
  case count(entity: String)
  /// One object with what can be changed of it.
  case object(entity: String, number: String)
  /// Says what an edit would do.
  case checkEdit(entity: String)
  /// Objects counted by one of their values.
  case groups(entity: String)
  /// Where objects come from.
  case origin(entity: String)
  /// A standing query, as server-sent events.
  case watch

  /// The path to send.
  package var path: String { path(id: { String($0) }, name: { QueryString.percentEncoded($1) }) }

  /// The path for a router and for `openapi.yaml`, with the parameters' names in braces: `/v1/jobs/{id}`.
  package var template: String { path(id: { _ in "{id}" }, name: { parameter, _ in "{\(parameter)}" }) }

  /// - Parameters:
  ///   - id: writes a number.
  ///   - name: writes the value of a named parameter.
  private func path(id shown: (Int64) -> String, name: (_ parameter: String, _ value: String) -> String) -> String {
    switch self {
    case .status: "/v1/status"
    case .stats: "/v1/stats"
    case .history: "/v1/history"
    case .disks: "/v1/disks"
    case .daemons: "/v1/daemons"
    case .log: "/v1/log"
    case .configuration: "/v1/config"
    case .checkConfiguration: "/v1/config/check"
    case .reload: "/v1/reload"
    case .webSession: "/v1/web/session"
    case .description: "/v1/openapi.yaml"
    case .metrics: "/metrics"
    case .health: "/v1/health"
    case .ready: "/v1/ready"
    case .jobs: "/v1/jobs"
    case .manyJobs: "/v1/jobs/many"
    case .changeJobs: "/v1/jobs/change"
    case .job(let id): "/v1/jobs/\(shown(id))"
    case .cancelJob(let id): "/v1/jobs/\(shown(id))/cancel"
    case .retryJob(let id): "/v1/jobs/\(shown(id))/retry"
    case .holdJob(let id): "/v1/jobs/\(shown(id))/hold"
    case .releaseJob(let id): "/v1/jobs/\(shown(id))/release"
    case .jobPriority(let id): "/v1/jobs/\(shown(id))/priority"
    case .rejects(let id): "/v1/jobs/\(shown(id))/rejects"
    case .reject(let id, let number): "/v1/jobs/\(shown(id))/rejects/\(name("number", String(number)))"
    case .rejectFile(let id): "/v1/jobs/\(shown(id))/rejects/file"
    case .openRejects(let id): "/v1/jobs/\(shown(id))/rejects/open"
    case .checkRejects(let id): "/v1/jobs/\(shown(id))/rejects/check"
    case .retryRejects(let id): "/v1/jobs/\(shown(id))/rejects/retry"
    case .jobEvents(let id): "/v1/jobs/\(shown(id))/events"
    case .allJobEvents: "/v1/jobs/events"
    case .batches: "/v1/batches"
    case .batch(let id): "/v1/batches/\(shown(id))"
    case .lanes: "/v1/lanes"
    case .pauseLanes: "/v1/lanes/pause"
    case .resumeLanes: "/v1/lanes/resume"
    case .pauseLane(let lane): "/v1/lanes/\(name("lane", lane))/pause"
    case .resumeLane(let lane): "/v1/lanes/\(name("lane", lane))/resume"
    case .laneConcurrency(let lane): "/v1/lanes/\(name("lane", lane))/concurrency"
    case .schedules: "/v1/schedules"
    case .runSchedule(let schedule): "/v1/schedules/\(name("schedule", schedule))/run"
    case .pauseSchedule(let schedule): "/v1/schedules/\(name("schedule", schedule))/pause"
    case .resumeSchedule(let schedule): "/v1/schedules/\(name("schedule", schedule))/resume"
    case .recipes: "/v1/recipes"
    case .recipe(let recipe): "/v1/recipes/\(name("recipe", recipe))"
    case .fileColumns: "/v1/recipes/columns"
    case .testRecipe: "/v1/recipes/test"
    case .diffModel: "/v1/recipes/diff"
    case .replay(let recipe): "/v1/recipes/\(name("recipe", recipe))/replay"
    case .cursor(let recipe): "/v1/recipes/\(name("recipe", recipe))/cursor"
    case .stores: "/v1/stores"
    case .store(let store): "/v1/stores/\(name("store", store))"
    case .modelVersions(let store): "/v1/stores/\(name("store", store))/versions"
    case .backups(let store): "/v1/stores/\(name("store", store))/backups"
    case .objects(let entity): "/v1/objects/\(name("entity", entity))"
    case .count(let entity): "/v1/count/\(name("entity", entity))"
    case .object(let entity, let number): "/v1/objects/\(name("entity", entity))/\(name("number", number))"
    case .checkEdit(let entity): "/v1/objects/\(name("entity", entity))/check"
    case .groups(let entity): "/v1/groups/\(name("entity", entity))"
    case .origin(let entity): "/v1/origin/\(name("entity", entity))"
    case .watch: "/v1/watch"
    }
  }
}
