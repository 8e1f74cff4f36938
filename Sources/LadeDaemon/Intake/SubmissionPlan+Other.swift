import ControlAPI
import Foundation
import Jobs

extension SubmissionPlan {
  /// A job that imports nothing: what its operation is told is for the operation to understand.
  func otherSubmission(_ request: JobSubmission, by who: String) throws -> JobSubmission {
    guard otherKinds.contains(request.kind) else {
      let known = ([ImportOperation.kind] + otherKinds).sorted().joined(separator: ", ")
      throw SubmissionProblem(
        field: "kind", reason: "there is no kind of job \(request.kind)", advice: "There are \(known).")
    }
    if request.recipe != nil {
      throw SubmissionProblem(field: "recipe", reason: "recipes are for imports, and this is \(request.kind)")
    }
    let store = try store(request.store)
    if let entity = request.entity, !store.entities.contains(entity) {
      throw SubmissionProblem(
        field: "entity", reason: "store \(store.configuration.name) has no entity \(entity)",
        advice: "It has \(store.entities.sorted().joined(separator: ", ")).")
    }
    var submission = request
    submission.lane = try lane(request.lane ?? LaneConfiguration.maintenanceName)
    submission.store = store.configuration.name
    submission.source = nil
    submission.submittedBy = who
    let json = try request.encodedOptions()
    guard json.utf8.count <= Self.longestOptions else {
      throw SubmissionProblem(
        field: "options", reason: "they have \(json.utf8.count) bytes, and may have \(Self.longestOptions)")
    }
    submission.resolvedOptions = json
    do {
      try operations.check(submission, in: store.coordinator.model)
    } catch let failure as JobFailure {
      let reason = failure.message
      throw SubmissionProblem(
        field: "options",
        reason: reason.hasPrefix(badOptions) ? String(reason.dropFirst(badOptions.count)) : reason)
    }
    return submission
  }
}
