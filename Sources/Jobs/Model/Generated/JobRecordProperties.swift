// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import Foundation
package import ManagedObjects

extension JobRecord {
  /// A request for all objects of the entity Job.
  package static func fetchRequest() -> FetchRequest<JobRecord> {
    FetchRequest(entityName: "Job")
  }

  package var kind: String {
    get { self[0] ?? "" }
    set { self[0] = newValue }
  }

  package var lane: String {
    get { self[1] ?? "" }
    set { self[1] = newValue }
  }

  /// The attribute `state`. Nil when the store holds a state that this version doesn't know.
  package var jobState: JobState? {
    get { self[2] }
    set { self[2] = newValue }
  }

  package var priority: Int {
    get { self[3] ?? 0 }
    set { self[3] = newValue }
  }

  package var store: String? {
    get { self[4] }
    set { self[4] = newValue }
  }

  package var entityName: String? {
    get { self[5] }
    set { self[5] = newValue }
  }

  package var mode: String? {
    get { self[6] }
    set { self[6] = newValue }
  }

  package var recipe: String? {
    get { self[7] }
    set { self[7] = newValue }
  }

  package var source: String? {
    get { self[8] }
    set { self[8] = newValue }
  }

  package var activeName: String? {
    get { self[9] }
    set { self[9] = newValue }
  }

  package var format: String? {
    get { self[10] }
    set { self[10] = newValue }
  }

  package var options: String {
    get { self[11] ?? "{}" }
    set { self[11] = newValue }
  }

  /// The words between bars, `|one|two|`, so a word is found with its bars; see `tagList`.
  package var tags: String? {
    get { self[12] }
    set { self[12] = newValue }
  }

  package var submittedBy: String {
    get { self[13] ?? "" }
    set { self[13] = newValue }
  }

  package var uniqueKey: String? {
    get { self[14] }
    set { self[14] = newValue }
  }

  package var origin: JobOrigin? {
    get { self[15] }
    set { self[15] = newValue }
  }

  package var submittedAt: Foundation.Date {
    get { self[16] ?? .distantPast }
    set { self[16] = newValue }
  }

  package var notBefore: Foundation.Date? {
    get { self[17] }
    set { self[17] = newValue }
  }

  /// Nil except while the job waits for a time: the index `due` holds only such jobs.
  package var availableAt: Foundation.Date? {
    get { self[18] }
    set { self[18] = newValue }
  }

  package var startedAt: Foundation.Date? {
    get { self[19] }
    set { self[19] = newValue }
  }

  package var endedAt: Foundation.Date? {
    get { self[20] }
    set { self[20] = newValue }
  }

  package var attempt: Int {
    get { self[21] ?? 0 }
    set { self[21] = newValue }
  }

  package var maxAttempts: Int {
    get { self[22] ?? 0 }
    set { self[22] = newValue }
  }

  package var rescues: Int {
    get { self[23] ?? 0 }
    set { self[23] = newValue }
  }

  package var isHeld: Bool {
    get { self[24] ?? false }
    set { self[24] = newValue }
  }

  package var isAwaitingFile: Bool {
    get { self[25] ?? false }
    set { self[25] = newValue }
  }

  package var isCancelRequested: Bool {
    get { self[26] ?? false }
    set { self[26] = newValue }
  }

  package var reason: String? {
    get { self[27] }
    set { self[27] = newValue }
  }

  package var failureCode: String? {
    get { self[28] }
    set { self[28] = newValue }
  }

  package var note: String? {
    get { self[29] }
    set { self[29] = newValue }
  }

  package var rejectsFile: String? {
    get { self[30] }
    set { self[30] = newValue }
  }

  package var bytesDone: Int64 {
    get { self[31] ?? 0 }
    set { self[31] = newValue }
  }

  package var bytesTotal: Int64 {
    get { self[32] ?? 0 }
    set { self[32] = newValue }
  }

  package var records: Int64 {
    get { self[33] ?? 0 }
    set { self[33] = newValue }
  }

  package var inserted: Int64 {
    get { self[34] ?? 0 }
    set { self[34] = newValue }
  }

  package var updated: Int64 {
    get { self[35] ?? 0 }
    set { self[35] = newValue }
  }

  package var unchanged: Int64 {
    get { self[36] ?? 0 }
    set { self[36] = newValue }
  }

  package var deleted: Int64 {
    get { self[37] ?? 0 }
    set { self[37] = newValue }
  }

  package var rejected: Int64 {
    get { self[38] ?? 0 }
    set { self[38] = newValue }
  }

  package var skipped: Int64 {
    get { self[39] ?? 0 }
    set { self[39] = newValue }
  }

  package var timeout: Double? {
    get { self[40] }
    set { self[40] = newValue }
  }

  package var deadline: Foundation.Date? {
    get { self[41] }
    set { self[41] = newValue }
  }

  /// The deadline while the job waits; nil otherwise, so the index `expiry` holds only what may expire.
  package var expiresAt: Foundation.Date? {
    get { self[42] }
    set { self[42] = newValue }
  }

  package var isAwaitingJobs: Bool {
    get { self[43] ?? false }
    set { self[43] = newValue }
  }

  /// Whether a job was ever submitted that follows this one.
  package var isFollowed: Bool {
    get { self[44] ?? false }
    set { self[44] = newValue }
  }

  /// The number of its `BatchRecord`.
  package var batch: Int64? {
    get { self[45] }
    set { self[45] = newValue }
  }

  /// How far an operation on the queue itself has come: see `ChangeCheckpoint`.
  package var checkpoint: String? {
    get { self[46] }
    set { self[46] = newValue }
  }

  /// Rises with each claim and each rescue, and never falls.
  package var claim: Int64 {
    get { self[47] ?? 0 }
    set { self[47] = newValue }
  }

  /// The incarnation of the daemon that runs it, where several share the queue.
  package var owner: String? {
    get { self[48] }
    set { self[48] = newValue }
  }

  /// The host that has its files, where several daemons share the queue; nil where any may run it.
  package var host: String? {
    get { self[49] }
    set { self[49] = newValue }
  }

  /// Rises where several daemons share the queue and something changes that the job depends on, or that depends on it: so two such changes at the same time are a conflict.
  package var revision: Int64 {
    get { self[50] ?? 0 }
    set { self[50] = newValue }
  }

  /// What its file is, if the queue's store has the bytes, so that any daemon may run it. It stays when they have been removed.
  package var sharedFile: SharedFile? {
    get { self[51] }
    set { self[51] = newValue }
  }

  package var transitions: Set<TransitionRecord> {
    get { objects(52) }
    set { setObjects(newValue, 52) }
  }

  package func addToTransitions(_ value: TransitionRecord) {
    add(value, to: 52)
  }

  package func removeFromTransitions(_ value: TransitionRecord) {
    remove(value, from: 52)
  }

  package func addToTransitions(_ values: Set<TransitionRecord>) {
    for value in values { add(value, to: 52) }
  }

  package func removeFromTransitions(_ values: Set<TransitionRecord>) {
    for value in values { remove(value, from: 52) }
  }

  package var dependencies: Set<DependencyRecord> {
    get { objects(53) }
    set { setObjects(newValue, 53) }
  }

  package func addToDependencies(_ value: DependencyRecord) {
    add(value, to: 53)
  }

  package func removeFromDependencies(_ value: DependencyRecord) {
    remove(value, from: 53)
  }

  package func addToDependencies(_ values: Set<DependencyRecord>) {
    for value in values { add(value, to: 53) }
  }

  package func removeFromDependencies(_ values: Set<DependencyRecord>) {
    for value in values { remove(value, from: 53) }
  }
}
