package import Foundation
package import ManagedObjects

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

  /// Stored as `|one|two|`, so that one can be looked for with its bars.
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
