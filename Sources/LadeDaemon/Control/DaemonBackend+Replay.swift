import ControlAPI
import ControlServer
import Jobs

extension DaemonBackend {
  func replay(_ request: ReplayRequest, of recipe: String, by peer: Peer) async throws -> ReplayResult {
    try permissions.check(JobSubmission(recipe: recipe), by: peer)
    return try await translating {
      if let priority = request.priority { try SubmissionPlan.checkPriority(priority) }
      return try await Replays(plan: plan, directories: directories, queue: queue).replay(
        request, of: recipe, by: peer.who)
    }
  }
}
