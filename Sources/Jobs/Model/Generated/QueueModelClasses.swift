// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import ManagedObjects

extension QueueModel {
  /// The class of each entity's objects.
  package static let classes: [String: ManagedObject.Type] = [
    "Job": JobRecord.self,
    "JobTransition": TransitionRecord.self,
    "JobDependency": DependencyRecord.self,
    "JobBatch": BatchRecord.self,
    "LaneSetting": LaneRecord.self,
    "JobSchedule": ScheduleRecord.self,
    "RecipeRun": RecipeRunRecord.self,
    "QueueDaemon": DaemonRecord.self,
    "QueueHost": HostRecord.self,
    "QueueLease": LeaseRecord.self,
    "JobFilePart": FilePartRecord.self,
  ]

  /// The slots of the accessors that stand in extensions of classes written by hand.
  package static let layouts: [String: ClassLayout] = [
    "Job": ClassLayout(
      propertyNames: [
        "kind", "lane", "state", "priority", "store", "entityName", "mode", "recipe", "source", "activeName", "format",
        "options", "tags", "submittedBy", "uniqueKey", "origin", "submittedAt", "notBefore", "availableAt",
        "startedAt", "endedAt", "attempt", "maxAttempts", "rescues", "isHeld", "isAwaitingFile", "isCancelRequested",
        "reason", "failureCode", "note", "rejectsFile", "bytesDone", "bytesTotal", "records", "inserted", "updated",
        "unchanged", "deleted", "rejected", "skipped", "timeout", "deadline", "expiresAt", "isAwaitingJobs",
        "isFollowed", "batch", "checkpoint", "claim", "owner", "host", "revision", "sharedFile", "transitions",
        "dependencies",
      ],
      propertyTypes: [
        .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.integer32), .attribute(.string),
        .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string),
        .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string),
        .attribute(.string), .attribute(.date), .attribute(.date), .attribute(.date), .attribute(.date),
        .attribute(.date), .attribute(.integer32), .attribute(.integer32), .attribute(.integer32),
        .attribute(.boolean), .attribute(.boolean), .attribute(.boolean), .attribute(.string), .attribute(.string),
        .attribute(.string), .attribute(.string), .attribute(.integer64), .attribute(.integer64),
        .attribute(.integer64), .attribute(.integer64), .attribute(.integer64), .attribute(.integer64),
        .attribute(.integer64), .attribute(.integer64), .attribute(.integer64), .attribute(.double), .attribute(.date),
        .attribute(.date), .attribute(.boolean), .attribute(.boolean), .attribute(.integer64), .attribute(.string),
        .attribute(.integer64), .attribute(.string), .attribute(.string), .attribute(.integer64), .attribute(.string),
        .toMany("JobTransition"), .toMany("JobDependency"),
      ]),
    "JobTransition": ClassLayout(
      propertyNames: ["at", "fromState", "toState", "reason", "requestedBy", "job"],
      propertyTypes: [
        .attribute(.date), .attribute(.string), .attribute(.string), .attribute(.string), .attribute(.string),
        .toOne("Job"),
      ]),
    "JobDependency": ClassLayout(
      propertyNames: ["on", "condition", "isSettled", "job"],
      propertyTypes: [.attribute(.integer64), .attribute(.string), .attribute(.boolean), .toOne("Job")]),
    "JobBatch": ClassLayout(
      propertyNames: [
        "name", "submittedBy", "submittedAt", "endedAt", "total", "pending", "failed", "kept", "callback", "condition",
      ],
      propertyTypes: [
        .attribute(.string), .attribute(.string), .attribute(.date), .attribute(.date), .attribute(.integer64),
        .attribute(.integer64), .attribute(.integer64), .attribute(.integer64), .attribute(.integer64),
        .attribute(.string),
      ]),
    "LaneSetting": ClassLayout(
      propertyNames: ["lane", "isPaused", "pausedBy", "pausedAt", "concurrency"],
      propertyTypes: [
        .attribute(.string), .attribute(.boolean), .attribute(.string), .attribute(.date), .attribute(.integer32),
      ]),
    "JobSchedule": ClassLayout(
      propertyNames: [
        "name", "calendar", "handled", "lastElapse", "lastOutcome", "lastOrigin", "isPaused", "pausedBy", "pausedAt",
      ],
      propertyTypes: [
        .attribute(.string), .attribute(.string), .attribute(.date), .attribute(.date), .attribute(.string),
        .attribute(.string), .attribute(.boolean), .attribute(.string), .attribute(.date),
      ]),
    "RecipeRun": ClassLayout(
      propertyNames: ["recipe", "endedAt", "job", "records"],
      propertyTypes: [.attribute(.string), .attribute(.date), .attribute(.integer64), .attribute(.integer64)]),
    "QueueDaemon": ClassLayout(
      propertyNames: ["incarnation", "host", "startedAt", "process", "version", "isGone"],
      propertyTypes: [
        .attribute(.string), .attribute(.string), .attribute(.date), .attribute(.integer64), .attribute(.string),
        .attribute(.boolean),
      ]),
    "QueueHost": ClassLayout(
      propertyNames: ["name", "folder"],
      propertyTypes: [.attribute(.string), .attribute(.string)]),
    "QueueLease": ClassLayout(
      propertyNames: ["incarnation", "until"],
      propertyTypes: [.attribute(.string), .attribute(.date)]),
    "JobFilePart": ClassLayout(
      propertyNames: ["job", "name", "start", "bytes", "closing"],
      propertyTypes: [
        .attribute(.integer64), .attribute(.string), .attribute(.integer64), .attribute(.binaryData),
        .attribute(.binaryData),
      ]),
  ]
}
