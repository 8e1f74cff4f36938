import ControlAPI
import Hummingbird
import NIOCore

/// The routing table. The handlers are in the files beside this one, by subject.
struct ControlRoutes<Backend: ControlBackend>: Sendable {
  let backend: Backend
  let meter: RequestMeter
  /// How long a client that has fallen behind may keep its connection.
  var grace = TimeAmount.seconds(5)

  /// Every route. A test compares them with `openapi.yaml`. The values of an endpoint's parameters don't matter here.
  var all: [ControlRoute] { daemonRoutes + metricsRoutes + jobRoutes + batchRoutes + laneRoutes + storeRoutes }

  /// The routes that the loopback port offers, too.
  var metricsRoutes: [ControlRoute] {
    [
      ControlRoute(.get, .metrics) { request, _ in try await metrics(request) },
      ControlRoute(.get, .health) { request, _ in try await health(request) },
      ControlRoute(.get, .ready) { request, _ in try await ready(request) },
    ]
  }

  private var daemonRoutes: [ControlRoute] {
    [
      ControlRoute(.get, .status) { request, _ in try await status(request) },
      ControlRoute(.get, .stats) { request, _ in try await stats(request) },
      ControlRoute(.get, .history) { request, _ in try await history(request) },
      ControlRoute(.get, .disks) { request, _ in try await disks(request) },
      ControlRoute(.get, .daemons) { request, _ in try await daemons(request) },
      ControlRoute(.get, .log) { request, context in try await log(request, context) },
      ControlRoute(.get, .configuration) { request, _ in try await configurationSettings(request) },
      ControlRoute(.get, .checkConfiguration) { request, _ in try await checkConfiguration(request) },
      ControlRoute(.post, .reload) { request, context in try await reload(request, context) },
      ControlRoute(.post, .webSession) { request, context in try await webLink(request, context) },
      ControlRoute(.get, .description) { request, _ in try description(request) },
    ]
  }

  private var jobRoutes: [ControlRoute] {
    [
      ControlRoute(.get, .jobs) { request, _ in try await list(request) },
      ControlRoute(.post, .jobs) { request, context in try await submit(request, context) },
      ControlRoute(.post, .manyJobs) { request, context in try await submitMany(request, context) },
      ControlRoute(.post, .changeJobs) { request, context in try await changeMany(request, context) },
      ControlRoute(.get, .allJobEvents) { request, context in try allEvents(request, context) },
      ControlRoute(.get, .job(0)) { request, context in try await show(request, context) },
      ControlRoute(.delete, .job(0)) { request, context in
        try await change(request, context, backend.remove)
      },
      ControlRoute(.put, .jobPriority(0)) { request, context in try await setPriority(request, context) },
      ControlRoute(.post, .cancelJob(0)) { request, context in
        try await change(request, context, backend.cancel)
      },
      ControlRoute(.post, .retryJob(0)) { request, context in
        try await change(request, context, backend.retry)
      },
      ControlRoute(.post, .holdJob(0)) { request, context in try await change(request, context, backend.hold)
      },
      ControlRoute(.post, .releaseJob(0)) { request, context in
        try await change(request, context, backend.release)
      },
      ControlRoute(.get, .rejects(0)) { request, context in try await rejects(request, context) },
      ControlRoute(.get, .rejectFile(0)) { request, context in
        try request.refuseQuery()
        return try await backend.rejectFileAnswer(context.number())
      },
      ControlRoute(.get, .openRejects(0)) { request, context in try await openRejects(request, context) },
      ControlRoute(.get, .reject(0, number: 0)) { request, context in try await reject(request, context) },
      ControlRoute(.post, .checkRejects(0)) { request, context in try await checkRejects(request, context) },
      ControlRoute(.post, .retryRejects(0)) { request, context in try await retryRejects(request, context) },
      ControlRoute(.get, .jobEvents(0)) { request, context in try await events(request, context) },
    ]
  }

  private var batchRoutes: [ControlRoute] {
    [
      ControlRoute(.get, .batches) { request, _ in try await listBatches(request) },
      ControlRoute(.post, .batches) { request, context in try await submitBatch(request, context) },
      ControlRoute(.get, .batch(0)) { request, context in try await showBatch(request, context) },
    ]
  }

  private var laneRoutes: [ControlRoute] {
    [
      ControlRoute(.get, .lanes) { request, _ in try await lanes(request) },
      ControlRoute(.post, .pauseLanes) { request, context in
        try await changeAll(request, context, backend.pause(lane:by:))
      },
      ControlRoute(.post, .resumeLanes) { request, context in
        try await changeAll(request, context, backend.resume(lane:by:))
      },
      ControlRoute(.post, .pauseLane("")) { request, context in
        try await changeLane(request, context, backend.pause(lane:by:))
      },
      ControlRoute(.post, .resumeLane("")) { request, context in
        try await changeLane(request, context, backend.resume(lane:by:))
      },
      ControlRoute(.put, .laneConcurrency("")) { request, context in
        try await setConcurrency(request, context)
      },
      ControlRoute(.get, .schedules) { request, _ in try await schedules(request) },
      ControlRoute(.post, .runSchedule("")) { request, context in try await runSchedule(request, context) },
      ControlRoute(.post, .pauseSchedule("")) { request, context in
        try await changeSchedule(request, context, backend.pause(schedule:by:))
      },
      ControlRoute(.post, .resumeSchedule("")) { request, context in
        try await changeSchedule(request, context, backend.resume(schedule:by:))
      },
    ]
  }

  private var storeRoutes: [ControlRoute] {
    [
      ControlRoute(.get, .recipes) { request, _ in try await recipes(request) },
      ControlRoute(.get, .recipe("")) { request, context in try await recipe(request, context) },
      ControlRoute(.put, .recipe("")) { request, context in try await saveRecipe(request, context) },
      ControlRoute(.delete, .recipe("")) { request, context in try await removeRecipe(request, context) },
      ControlRoute(.post, .fileColumns) { request, context in try await columns(request, context) },
      ControlRoute(.post, .testRecipe) { request, context in try await test(request, context) },
      ControlRoute(.post, .diffModel) { request, context in try await diff(request, context) },
      ControlRoute(.post, .replay(recipe: "")) { request, context in try await replay(request, context) },
      ControlRoute(.get, .cursor(recipe: "")) { request, context in try await cursor(request, context) },
      ControlRoute(.put, .cursor(recipe: "")) { request, context in try await setCursor(request, context) },
      ControlRoute(.get, .stores) { request, context in try await stores(request, context) },
      ControlRoute(.get, .store("")) { request, context in try await store(request, context) },
      ControlRoute(.get, .modelVersions(store: "")) { request, context in try await modelVersions(request, context) },
      ControlRoute(.get, .backups(store: "")) { request, context in try await backups(request, context) },
      ControlRoute(.get, .objects(entity: "")) { request, context in try await objects(request, context) },
      ControlRoute(.get, .count(entity: "")) { request, context in try await count(request, context) },
      ControlRoute(.get, .object(entity: "", number: "")) { request, context in try await object(request, context) },
      ControlRoute(.post, .checkEdit(entity: "")) { request, context in try await checkEdit(request, context) },
      ControlRoute(.get, .groups(entity: "")) { request, context in try await groups(request, context) },
      ControlRoute(.get, .origin(entity: "")) { request, context in try await origin(request, context) },
      ControlRoute(.get, .watch) { request, context in try await watch(request, context) },
    ]
  }

  /// - Parameter token: the bearer token that every request must have; nil for none.
  func router(of routes: [ControlRoute], token: AccessToken? = nil) -> Router<ControlContext> {
    let router = Router(context: ControlContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: VersionMiddleware())
    router.add(middleware: ProblemMiddleware(routes: routes))
    if let token { router.add(middleware: TokenMiddleware(token: token)) }
    router.add(middleware: ClientVersionMiddleware())
    router.add(middleware: MeterMiddleware(meter: meter))
    for route in routes { router.on(RouterPath(route.path), method: route.method, use: route.handler) }
    return router
  }
}

extension Request {
  /// The request's query, read as ladectl writes it.
  func query() throws -> QueryString {
    try QueryString(parsing: uri.query ?? "")
  }

  /// - Throws: `QueryError` where there is a query.
  func refuseQuery() throws {
    try query().refuseNames(otherThan: [])
  }
}

extension ControlContext {
  /// The number in the path, of a job or a batch.
  func number(of what: String = "job") throws -> Int64 {
    let text = try parameters.require("id")
    guard let id = Int64(text), id >= 0 else {
      throw ControlError.invalid(field: what, reason: "'\(text)' isn't a \(what)'s number")
    }
    return id
  }

  /// A name in the path.
  func name(_ parameter: String) throws -> String {
    let text = try parameters.require(parameter)
    // Read as a parameter's name, for the escapes are the same and a name may have any character.
    guard let name = try QueryString(parsing: text.replacing("=", with: "%3D")).names.first else {
      throw ControlError.invalid(field: parameter, reason: "there is no name")
    }
    return name
  }
}

/// One route of the interface, which has its operation in `openapi.yaml`.
struct ControlRoute: Sendable {
  typealias Handler = @Sendable (Request, ControlContext) async throws -> Response

  let method: HTTPRequest.Method
  /// The path with the parameters' names in braces: `/v1/jobs/{id}`.
  let path: String
  let handler: Handler

  init(_ method: HTTPRequest.Method, _ endpoint: Endpoint, _ handler: @escaping Handler) {
    self.method = method
    path = endpoint.template
    self.handler = handler
  }

  /// Whether a request's path is one of this route's.
  func matches(_ requested: String) -> Bool {
    let parts = requested.split(separator: "/")
    let own = path.split(separator: "/")
    return parts.count == own.count && zip(own, parts).allSatisfy { $0.first == "{" || $0 == $1 }
  }
}
