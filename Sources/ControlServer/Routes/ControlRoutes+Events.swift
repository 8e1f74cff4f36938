import ControlAPI
import Hummingbird

extension ControlRoutes {
  /// Every job's changes, from before the client has the answer's head; so it can list the jobs then and miss nothing.
  func allEvents(_ request: Request, _ context: ControlContext) async throws -> Response {
    let changes = backend.jobEvents()
    return EventStream(changes: changes).response(to: request, context)
  }

  /// One job as it is, and then its changes, until it has ended.
  func events(_ request: Request, _ context: ControlContext) async throws -> Response {
    // First the changes, then the job: the other way round, what happens between them would be lost.
    let changes = backend.jobEvents()
    let job = try await backend.job(context.jobID())
    return EventStream(changes: changes, of: job).response(to: request, context)
  }
}
