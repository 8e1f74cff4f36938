import ControlAPI
import Hummingbird
import NIOCore

/// Which request goes where. The routes themselves are in the files beside this one, by what they are about.
struct ControlRoutes<Backend: ControlBackend>: Sendable {
  let backend: Backend
  let meter: RequestMeter
  /// How long a client that lags may keep its connection.
  var grace = TimeAmount.seconds(5)

  /// Every route. A test holds them against `openapi.yaml`.
  var all: [ControlRoute] { daemonRoutes + metricsRoutes + jobRoutes + batchRoutes + laneRoutes + storeRoutes }

  /// What there is on TCP, too.
  var metricsRoutes: [ControlRoute] {
    [
      ControlRoute(.get, "/metrics") { request, _ in try await metrics(request) },
      ControlRoute(.get, "/v1/health") { request, _ in try await health(request) },
      ControlRoute(.get, "/v1/ready") { request, _ in try await ready(request) },
    ]
  }

  private var daemonRoutes: [ControlRoute] {
    [
      ControlRoute(.get, "/v1/status") { request, _ in try await status(request) },
      ControlRoute(.get, "/v1/stats") { request, _ in try await stats(request) },
      ControlRoute(.get, "/v1/log") { request, context in try await log(request, context) },
      ControlRoute(.get, "/v1/config/check") { request, _ in try await checkConfiguration(request) },
      ControlRoute(.post, "/v1/reload") { request, context in try await reload(request, context) },
      ControlRoute(.get, "/v1/openapi.yaml") { request, _ in try description(request) },
    ]
  }

  private var jobRoutes: [ControlRoute] {
    [
      ControlRoute(.get, "/v1/jobs") { request, _ in try await list(request) },
      ControlRoute(.post, "/v1/jobs") { request, context in try await submit(request, context) },
      ControlRoute(.post, "/v1/jobs/many") { request, context in try await submitMany(request, context) },
      ControlRoute(.post, "/v1/jobs/change") { request, context in try await changeMany(request, context) },
      ControlRoute(.get, "/v1/jobs/events") { request, context in try allEvents(request, context) },
      ControlRoute(.get, "/v1/jobs/{id}") { request, context in try await show(request, context) },
      ControlRoute(.delete, "/v1/jobs/{id}") { request, context in
        try await change(request, context, backend.remove)
      },
      ControlRoute(.put, "/v1/jobs/{id}/priority") { request, context in try await setPriority(request, context) },
      ControlRoute(.post, "/v1/jobs/{id}/cancel") { request, context in
        try await change(request, context, backend.cancel)
      },
      ControlRoute(.post, "/v1/jobs/{id}/retry") { request, context in
        try await change(request, context, backend.retry)
      },
      ControlRoute(.post, "/v1/jobs/{id}/hold") { request, context in try await change(request, context, backend.hold)
      },
      ControlRoute(.post, "/v1/jobs/{id}/release") { request, context in
        try await change(request, context, backend.release)
      },
      ControlRoute(.get, "/v1/jobs/{id}/rejects") { request, context in try await rejects(request, context) },
      ControlRoute(.get, "/v1/jobs/{id}/events") { request, context in try await events(request, context) },
    ]
  }

  private var batchRoutes: [ControlRoute] {
    [
      ControlRoute(.post, "/v1/batches") { request, context in try await submitBatch(request, context) },
      ControlRoute(.get, "/v1/batches/{id}") { request, context in try await showBatch(request, context) },
    ]
  }

  private var laneRoutes: [ControlRoute] {
    [
      ControlRoute(.get, "/v1/lanes") { request, _ in try await lanes(request) },
      ControlRoute(.post, "/v1/lanes/pause") { request, context in
        try await changeAll(request, context, backend.pause)
      },
      ControlRoute(.post, "/v1/lanes/resume") { request, context in
        try await changeAll(request, context, backend.resume)
      },
      ControlRoute(.post, "/v1/lanes/{lane}/pause") { request, context in
        try await changeLane(request, context, backend.pause)
      },
      ControlRoute(.post, "/v1/lanes/{lane}/resume") { request, context in
        try await changeLane(request, context, backend.resume)
      },
      ControlRoute(.put, "/v1/lanes/{lane}/concurrency") { request, context in
        try await setConcurrency(request, context)
      },
      ControlRoute(.get, "/v1/schedules") { request, _ in try await schedules(request) },
    ]
  }

  private var storeRoutes: [ControlRoute] {
    [
      ControlRoute(.get, "/v1/recipes") { request, _ in try await recipes(request) },
      ControlRoute(.post, "/v1/recipes/test") { request, context in try await test(request, context) },
      ControlRoute(.get, "/v1/stores") { request, _ in try await stores(request) },
      ControlRoute(.get, "/v1/stores/{store}") { request, context in try await store(request, context) },
      ControlRoute(.get, "/v1/objects/{entity}") { request, context in try await objects(request, context) },
      ControlRoute(.get, "/v1/count/{entity}") { request, context in try await count(request, context) },
      ControlRoute(.get, "/v1/watch") { request, context in try await watch(request, context) },
    ]
  }

  /// - Parameter token: what every request has to bring; nil for nothing.
  func router(of routes: [ControlRoute], token: AccessToken? = nil) -> Router<ControlContext> {
    let router = Router(context: ControlContext.self)
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
