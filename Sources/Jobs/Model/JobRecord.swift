package import Foundation
public import ManagedObjects

/// A job in the queue's store. See ``Job`` for what the properties mean.
package final class JobRecord: ManagedObject {
  package override class var propertyNames: [String]? { JobSlot.allCases.map(\.name) }
  package override class var validatesValues: Bool { false }

  // What it is to do.

  package var kind: String {
    get { self[.kind] ?? "" }
    set { self[.kind] = newValue }
  }
  package var lane: String {
    get { self[.lane] ?? "" }
    set { self[.lane] = newValue }
  }
  package var priority: Int {
    get { self[.priority] ?? 0 }
    set { self[.priority] = newValue }
  }
  package var store: String? {
    get { self[.store] }
    set { self[.store] = newValue }
  }
  package var entityName: String? {
    get { self[.entityName] }
    set { self[.entityName] = newValue }
  }
  package var mode: String? {
    get { self[.mode] }
    set { self[.mode] = newValue }
  }
  package var recipe: String? {
    get { self[.recipe] }
    set { self[.recipe] = newValue }
  }
  package var source: String? {
    get { self[.source] }
    set { self[.source] = newValue }
  }
  package var activeName: String? {
    get { self[.activeName] }
    set { self[.activeName] = newValue }
  }
  package var format: String? {
    get { self[.format] }
    set { self[.format] = newValue }
  }
  package var options: String {
    get { self[.options] ?? "{}" }
    set { self[.options] = newValue }
  }
  package var submittedBy: String {
    get { self[.submittedBy] ?? "" }
    set { self[.submittedBy] = newValue }
  }
  package var uniqueKey: String? {
    get { self[.uniqueKey] }
    set { self[.uniqueKey] = newValue }
  }
  package var origin: JobOrigin? {
    get { (self[.origin] as String?).flatMap { JobOrigin(rawValue: $0) } }
    set { self[.origin] = newValue?.rawValue }
  }

  /// Jobs with one of the words in ``tags``.
  static func isFound(by tag: String) -> FetchPredicate {
    .comparison(.path(JobSlot.tags.name), .contains, .constant(.string("|\(tag)|")))
  }

  /// Stored as `|one|two|`, so that a word can be searched for with its bars.
  package var tags: [String] {
    get { (self[.tags] as String?)?.split(separator: "|").map(String.init) ?? [] }
    set { self[.tags] = newValue.isEmpty ? nil as String? : "|" + newValue.joined(separator: "|") + "|" }
  }

  // Where it stands: the state machine's.

  /// The attribute `state`. nil when the store holds a state that this version doesn't know.
  package var jobState: JobState? {
    get { self[.state] }
    set { self[.state] = newValue }
  }
  package var submittedAt: Date {
    get { self[.submittedAt] ?? .distantPast }
    set { self[.submittedAt] = newValue }
  }
  package var notBefore: Date? {
    get { self[.notBefore] }
    set { self[.notBefore] = newValue }
  }
  package var availableAt: Date? {
    get { self[.availableAt] }
    set { self[.availableAt] = newValue }
  }
  package var startedAt: Date? {
    get { self[.startedAt] }
    set { self[.startedAt] = newValue }
  }
  package var endedAt: Date? {
    get { self[.endedAt] }
    set { self[.endedAt] = newValue }
  }
  package var attempt: Int {
    get { self[.attempt] ?? 0 }
    set { self[.attempt] = newValue }
  }
  package var maxAttempts: Int {
    get { self[.maxAttempts] ?? 0 }
    set { self[.maxAttempts] = newValue }
  }
  package var isHeld: Bool {
    get { self[.isHeld] ?? false }
    set { self[.isHeld] = newValue }
  }
  package var isAwaitingFile: Bool {
    get { self[.isAwaitingFile] ?? false }
    set { self[.isAwaitingFile] = newValue }
  }
  package var isCancelRequested: Bool {
    get { self[.isCancelRequested] ?? false }
    set { self[.isCancelRequested] = newValue }
  }

  package var timeout: TimeInterval? {
    get { self[.timeout] }
    set { self[.timeout] = newValue }
  }
  package var deadline: Date? {
    get { self[.deadline] }
    set { self[.deadline] = newValue }
  }
  /// The deadline while it waits; nil otherwise, so that the index `expiry` holds only what may expire.
  package var expiresAt: Date? {
    get { self[.expiresAt] }
    set { self[.expiresAt] = newValue }
  }
  package var isAwaitingJobs: Bool {
    get { self[.isAwaitingJobs] ?? false }
    set { self[.isAwaitingJobs] = newValue }
  }

  // Whom it belongs to.

  /// Whether a job was ever submitted that follows this one.
  package var isFollowed: Bool {
    get { self[.isFollowed] ?? false }
    set { self[.isFollowed] = newValue }
  }
  /// The number of its ``BatchRecord``.
  package var batch: Int64? {
    get { self[.batch] }
    set { self[.batch] = newValue }
  }

  // What happened.

  package var rescues: Int {
    get { self[.rescues] ?? 0 }
    set { self[.rescues] = newValue }
  }
  package var reason: String? {
    get { self[.reason] }
    set { self[.reason] = newValue }
  }
  package var failureCode: String? {
    get { self[.failureCode] }
    set { self[.failureCode] = newValue }
  }
  package var note: String? {
    get { self[.note] }
    set { self[.note] = newValue }
  }

  package var progress: JobProgress {
    get {
      JobProgress(
        bytesDone: self[.bytesDone] ?? 0, bytesTotal: self[.bytesTotal] ?? 0, records: self[.records] ?? 0,
        inserted: self[.inserted] ?? 0, updated: self[.updated] ?? 0, unchanged: self[.unchanged] ?? 0,
        deleted: self[.deleted] ?? 0, rejected: self[.rejected] ?? 0, skipped: self[.skipped] ?? 0,
        rejectsFile: self[.rejectsFile])
    }
    set {
      self[.bytesDone] = newValue.bytesDone
      self[.bytesTotal] = newValue.bytesTotal
      self[.records] = newValue.records
      self[.inserted] = newValue.inserted
      self[.updated] = newValue.updated
      self[.unchanged] = newValue.unchanged
      self[.deleted] = newValue.deleted
      self[.rejected] = newValue.rejected
      self[.skipped] = newValue.skipped
      self[.rejectsFile] = newValue.rejectsFile
    }
  }

  private subscript<T: AttributeValue>(slot: JobSlot) -> T? {
    get { self[slot.rawValue] }
    set { self[slot.rawValue] = newValue }
  }
}

extension JobRecord {
  /// The job as it stands now, without its transitions.
  /// - Throws: ``JobQueueError/unreadable(id:what:)`` when the store holds what this version can't have written.
  func snapshot() throws -> Job {
    let id = objectID.number
    guard let state = jobState else { throw JobQueueError.unreadable(id: id, what: "state") }
    var job = Job(
      id: id, kind: kind, lane: lane, state: state, submittedAt: submittedAt, submittedBy: submittedBy,
      maxAttempts: maxAttempts)
    job.priority = priority
    job.store = store
    job.entity = entityName
    job.mode = mode.flatMap(ImportMode.init)
    job.recipe = recipe
    job.source = source
    job.activeName = activeName
    job.format = format
    job.options = options
    job.tags = tags
    job.uniqueKey = uniqueKey
    job.origin = origin
    job.notBefore = notBefore
    job.availableAt = availableAt
    job.startedAt = startedAt
    job.endedAt = endedAt
    job.attempt = attempt
    job.rescues = rescues
    job.isHeld = isHeld
    job.isAwaitingFile = isAwaitingFile
    job.isAwaitingJobs = isAwaitingJobs
    job.isCancelRequested = isCancelRequested
    job.timeout = timeout
    job.deadline = deadline
    job.batch = batch
    job.reason = reason
    job.failureCode = failureCode
    job.note = note
    job.progress = progress
    return job
  }
}

extension JobRecord {
  /// Where it stands, as the state machine sees it.
  func machine(_ backoff: Backoff) -> JobStateMachine {
    var machine = JobStateMachine(maxAttempts: maxAttempts, backoff: backoff)
    machine.state = jobState
    machine.availableAt = availableAt
    machine.notBefore = notBefore
    machine.startedAt = startedAt
    machine.endedAt = endedAt
    machine.attempt = attempt
    machine.isCancelRequested = isCancelRequested
    machine.isHeld = isHeld
    machine.isAwaitingFile = isAwaitingFile
    machine.isAwaitingJobs = isAwaitingJobs
    machine.deadline = deadline
    return machine
  }

  /// Stands where the state machine says.
  func take(_ machine: JobStateMachine) {
    jobState = machine.state
    availableAt = machine.availableAt
    notBefore = machine.notBefore
    startedAt = machine.startedAt
    endedAt = machine.endedAt
    attempt = machine.attempt
    maxAttempts = machine.maxAttempts
    isCancelRequested = machine.isCancelRequested
    isHeld = machine.isHeld
    isAwaitingFile = machine.isAwaitingFile
    isAwaitingJobs = machine.isAwaitingJobs
    deadline = machine.deadline
    switch machine.state {
    case .scheduled, .available, .retryable: expiresAt = machine.deadline
    case nil, .running, .completed, .cancelled, .discarded: expiresAt = nil
    }
  }
}

/// The slots of ``JobRecord``, named as its properties: one list for the model, the class and the predicates.
enum JobSlot: Int, CaseIterable {
  case kind, lane, state, priority, store, entityName, mode, recipe, source, activeName, format, options, tags
  case submittedBy, uniqueKey, origin
  case submittedAt, notBefore, availableAt, startedAt, endedAt
  case attempt, maxAttempts, rescues, isHeld, isAwaitingFile, isCancelRequested
  case reason, failureCode, note, rejectsFile
  case bytesDone, bytesTotal, records, inserted, updated, unchanged, deleted, rejected, skipped
  case timeout, deadline, expiresAt, isAwaitingJobs, isFollowed, batch
  case transitions, dependencies

  var name: String { "\(self)" }
}

extension JobState: AttributeValue {
  /// The state of that name.
  public init?(slotValue: Value) {
    guard case .string(let name) = slotValue, let state = JobState(rawValue: name) else { return nil }
    self = state
  }
  /// The state's name.
  public var slotValue: Value { .string(rawValue) }
}

extension QueueModel {
  private static func text(_ slot: JobSlot, isOptional: Bool = true) -> AttributeDefinition {
    AttributeDefinition(slot.name, .string, isOptional: isOptional)
  }

  private static func date(_ slot: JobSlot) -> AttributeDefinition { AttributeDefinition(slot.name, .date) }

  private static func flag(_ slot: JobSlot) -> AttributeDefinition {
    AttributeDefinition(slot.name, .boolean, isOptional: false, defaultValue: .bool(false))
  }

  private static func number(_ slot: JobSlot, _ type: AttributeType = .integer64) -> AttributeDefinition {
    AttributeDefinition(slot.name, type, isOptional: false, defaultValue: .int(0))
  }

  private static func index(
    _ name: String, _ elements: [(slot: JobSlot, isAscending: Bool)], where condition: String? = nil
  ) -> FetchIndexDefinition {
    FetchIndexDefinition(
      name, elements: elements.map { .init(property: $0.slot.name, isAscending: $0.isAscending) },
      partialPredicateFormat: condition)
  }

  /// An index of the jobs alone that have something.
  private static func sparse(_ name: String, _ slots: JobSlot...) -> FetchIndexDefinition {
    index(name, slots.map { ($0, true) }, where: "\(slots[0].name) != nil")
  }

  static var jobEntity: EntityDefinition {
    EntityDefinition(
      job,
      attributes: [
        text(.kind, isOptional: false), text(.lane, isOptional: false), text(.state, isOptional: false),
        number(.priority, .integer32), text(.store), text(.entityName), text(.mode), text(.recipe), text(.source),
        text(.activeName), text(.format), text(.options, isOptional: false), text(.tags),
        text(.submittedBy, isOptional: false), text(.uniqueKey), text(.origin),
        AttributeDefinition(JobSlot.submittedAt.name, .date, isOptional: false), date(.notBefore), date(.availableAt),
        date(.startedAt), date(.endedAt), number(.attempt, .integer32), number(.maxAttempts, .integer32),
        number(.rescues, .integer32), flag(.isHeld), flag(.isAwaitingFile), flag(.isCancelRequested), text(.reason),
        text(.failureCode), text(.note), text(.rejectsFile), number(.bytesDone), number(.bytesTotal), number(.records),
        number(.inserted), number(.updated), number(.unchanged), number(.deleted), number(.rejected),
        number(.skipped), AttributeDefinition(JobSlot.timeout.name, .double), date(.deadline), date(.expiresAt),
        flag(.isAwaitingJobs), flag(.isFollowed), AttributeDefinition(JobSlot.batch.name, .integer64),
      ],
      relationships: [
        RelationshipDefinition(
          JobSlot.transitions.name, to: transition, inverse: JobTransitionSlot.job.name, isToMany: true,
          deleteRule: .cascade),
        RelationshipDefinition(
          JobSlot.dependencies.name, to: dependency, inverse: JobDependencySlot.job.name, isToMany: true,
          deleteRule: .cascade),
      ],
      uniquenessConstraints: [[JobSlot.origin.name]],
      indexes: [
        index("claim", [(.lane, true), (.state, true), (.priority, false)]),
        sparse("due", .availableAt),
        sparse("expiry", .expiresAt),
        index("state", [(.state, true), (.endedAt, true)]),
        sparse("unique", .uniqueKey, .state),
        sparse("batch", .batch),
      ])
  }
}
