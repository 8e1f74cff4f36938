import Synchronization

/// What the daemon works by now. Whoever does something takes one snapshot for all of it: the next one may be another.
final class CurrentConfiguration: Sendable {
  /// A configuration with what follows from it.
  struct Snapshot: Sendable {
    /// Which has the configuration.
    let plan: SubmissionPlan
    let permissions: Permissions

    var configuration: DaemonConfiguration { plan.configuration }

    /// Looks users up, which may ask whatever knows users here.
    init(_ plan: SubmissionPlan) {
      self.plan = plan
      permissions = Permissions(operators: Set(plan.configuration.operators.compactMap(SystemUser.number)))
    }
  }

  private let value: Mutex<Snapshot>

  init(_ snapshot: Snapshot) { value = Mutex(snapshot) }

  var now: Snapshot { value.withLock { $0 } }

  func put(_ snapshot: Snapshot) { value.withLock { $0 = snapshot } }
}
