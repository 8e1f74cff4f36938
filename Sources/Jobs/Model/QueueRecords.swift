// The classes of the queue's other entities. Their accessors, and those of ``JobRecord``, are generated from
// Queue.xcdatamodel into `Generated`. What the queue writes needs no validation, so none of them asks for it.

package import ManagedObjects

/// One step of a job's life: when, from where to where, why, and who wanted it.
package final class TransitionRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search by.
  enum Key: String, CaseIterable {
    case job

    var name: String { rawValue }
  }

  /// The step, or nil when the store holds what this version can't have written.
  func snapshot() -> JobTransition? {
    guard let at, let toState else { return nil }
    return JobTransition(at: at, from: fromState, to: toState, reason: reason, by: requestedBy)
  }
}

/// A job follows another: a row for each job that it follows.
package final class DependencyRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search by.
  enum Key: String, CaseIterable {
    case on, job

    var name: String { rawValue }
  }
}

/// A group of jobs in the queue's store. See ``Batch`` for what the properties mean.
package final class BatchRecord: ManagedObject {
  package override class var validatesValues: Bool { false }
}

/// A lane's run-time settings. They outlive the daemon and take precedence over the configuration.
package final class LaneRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search by.
  enum Key: String, CaseIterable {
    case lane

    var name: String { rawValue }
  }
}

/// What the queue's store remembers of a schedule.
package final class ScheduleRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search by.
  enum Key: String, CaseIterable {
    case name

    var name: String { rawValue }
  }
}

/// A completed import of a watched recipe. See ``RecipeRun`` for what the properties mean.
package final class RecipeRunRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search by.
  enum Key: String, CaseIterable {
    case recipe, endedAt

    var name: String { rawValue }
  }
}

/// A daemon that works on a queue which several share. See ``QueueMembership``.
package final class DaemonRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search and sort by.
  enum Key: String, CaseIterable {
    case incarnation, host, startedAt, isGone

    var name: String { rawValue }
  }
}

/// What a host is called whose daemon has a state folder of its own. See ``QueueMembership``.
package final class HostRecord: ManagedObject {
  package override class var validatesValues: Bool { false }
}

/// Until when such a daemon counts as there.
package final class LeaseRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search by.
  enum Key: String, CaseIterable {
    case incarnation, until

    var name: String { rawValue }
  }
}

/// A piece of a file in the store of a shared queue. See ``FileParts``.
package final class FilePartRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search and sort by.
  enum Key: String, CaseIterable {
    case job, name, start

    var name: String { rawValue }
  }
}
