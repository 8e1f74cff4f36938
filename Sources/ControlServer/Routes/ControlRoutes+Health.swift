import ControlAPI
import Hummingbird

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
    return try Self.answer(await backend.health())
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
    [
      MetricFamily(
        "lade_request_duration_seconds",
        "How long requests of HTTP that only read took to be answered, since this daemon's start.", durations),
      MetricFamily(
        .gauge, "lade_listeners", "Clients that listen to a stream of events or to a standing query.", value: listeners),
    ]
  }
}
