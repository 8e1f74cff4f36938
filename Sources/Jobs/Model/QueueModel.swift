// The queue's own model. What its operations cost (rule 9, ARCHITECTURE.md): a claim is one descent of the index
// `claim`, whose last column is the row number, so that equal priorities come in the order of their submission; what is
// due is the beginning of the index `due`, for `availableAt` is nil except while a job waits for a time, and so with
// `expiry`. What to prune is the beginning of a state in the index `ended`. Lists come by number from `state` and `laneState`,
// whose last column is the row number, too. All cost the same with ten jobs and with a million. Indexes of what few jobs have
// hold only these. The store has no statistics: no plan depends on them (decision 0255).
//
// Queue.xcdatamodel defines it. To change it, add attributes at the end, optional or with a default, never give an old name
// a new meaning, and run `make classes`, which writes the accessors and the embedded model to `Generated`.

public import ManagedObjects

/// The model of the queue's store: jobs and what happened to them. All queues of a process share `QueueModel.model`.
extension QueueModel {
  /// The names of its entities.
  package static let job = "Job"
  package static let transition = "JobTransition"
  package static let dependency = "JobDependency"
  package static let batch = "JobBatch"
  package static let lane = "LaneSetting"
  package static let schedule = "JobSchedule"
  package static let recipeRun = "RecipeRun"
  package static let daemon = "QueueDaemon"
  package static let host = "QueueHost"
  package static let lease = "QueueLease"
  package static let filePart = "JobFilePart"
}

/// A word of the vocabulary, which an attribute holds by its name.
extension AttributeValue where Self: RawRepresentable, RawValue == String {
  /// The word of that name; nil when the slot holds none that this version knows.
  public init?(slotValue: Value) {
    guard case .string(let name) = slotValue else { return nil }
    self.init(rawValue: name)
  }
  /// The word's name.
  public var slotValue: Value { .string(rawValue) }
}

extension JobState: AttributeValue {}
extension JobOrigin: AttributeValue {}
extension SharedFile: AttributeValue {}
extension JobDependency.Condition: AttributeValue {}
