import ControlAPI
import Hummingbird

extension ControlRoutes {
  func status(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.status())
  }

  func stats(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    var stats = try await backend.stats()
    stats.requests = meter.spread
    stats.listeners = meter.listeners
    return try .json(stats)
  }

  func configurationSettings(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.configurationSettings())
  }

  func checkConfiguration(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.checkConfiguration())
  }

  func reload(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    return try .json(await backend.reload(by: context.peer()))
  }

  func webLink(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    var response = try Response.json(await backend.webLink(for: context.peer()), status: .created)
    response.headers[.cacheControl] = "no-store"
    return response
  }

  /// This interface's description, as it is in the sources.
  func description(_ request: Request) throws -> Response {
    try request.refuseQuery()
    let text = PackageResources.openapi_yaml
    return Response(
      status: .ok, headers: [.contentType: "application/yaml", .contentLength: String(text.count)],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
  }

  /// The last lines of the log; with `follow`, new lines too.
  func log(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try LogQuery(request.query())
    guard query.follows else { return try .json(LogPage(lines: backend.log(query))) }
    // The stream is opened before the past lines are read. The other way round, lines logged in between would be lost.
    let lines = Handed(backend.logLines())
    let last = backend.log(query)
    let queue = EventQueue<LogLine>(capacity: 2 * LogQuery.maximumLimit)
    return EventStream(meter: meter, grace: grace).response(to: request, context) {
      for line in last { queue.put(line) }
      let known = last.last?.number ?? 0
      guard let lines = lines.take() else { return true }
      for await line in lines where line.number > known && query.matches(line) {
        if !queue.put(line) { return false }
      }
      queue.finish()
      return true
    } write: { writer in
      while let lines = await queue.take() {
        for line in lines { try await writer.send(LogEvent.line(line).serverSentEvent()) }
      }
      if queue.isOverfull { try await writer.send(LogEvent.lagged.serverSentEvent()) }
    } stop: {
      queue.close()
    }
  }
}

extension ControlRoutes {
  /// The metrics for a scraper: the daemon's and the server's own.
  func metrics(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    let text = MetricsText.of(try await backend.metrics() + meter.families)
    let body = ByteBuffer(string: text)
    return Response(
      status: .ok,
      headers: [.contentType: MetricsText.contentType, .contentLength: String(body.readableBytes)],
      body: ResponseBody(byteBuffer: body))
  }

  func health(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    var health = await backend.health()
    let connections = meter.connections.health
    if connections.status != .pass { health = health.adding(connections, of: "connections") }
    return try Self.answer(health)
  }

  func ready(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try Self.answer(await backend.readiness())
  }

  private static func answer(_ health: Health) throws -> Response {
    var response = try Response.json(
      health, status: health.status == .fail ? .serviceUnavailable : .ok, contentType: Health.contentType)
    response.headers[.cacheControl] = "no-store"
    return response
  }
}

extension RequestMeter {
  fileprivate var families: [MetricFamily] {
    var refused = MetricFamily(
      .counter, "lade_connections_refused_total",
      "Connections that were refused, since this daemon's start: because no descriptor was left, or one user or all users "
        + "had as many as they can have.")
    for reason in ConnectionRefusal.allCases { refused.add(connections[reason], ["reason": reason.rawValue]) }
    return [
      MetricFamily(
        "lade_request_duration_seconds",
        "How long requests of HTTP that only read took to be answered, since this daemon's start.", durations),
      MetricFamily(.gauge, "lade_connections", "Connections that clients hold.", value: connections.open), refused,
      MetricFamily(
        .gauge, "lade_listeners", "Clients that listen to a stream of events or to a standing query.", value: listeners),
    ]
  }
}
