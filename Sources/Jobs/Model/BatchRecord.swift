package import Foundation
package import ManagedObjects

/// A group of jobs in the queue's store. See ``Batch`` for what the properties mean.
package final class BatchRecord: ManagedObject {
  package override class var propertyNames: [String]? { JobBatchSlot.allCases.map(\.propertyName) }
  package override class var validatesValues: Bool { false }

  package var name: String? {
    get { self[.name] }
    set { self[.name] = newValue }
  }
  package var submittedBy: String {
    get { self[.submittedBy] ?? "" }
    set { self[.submittedBy] = newValue }
  }
  package var submittedAt: Date {
    get { self[.submittedAt] ?? .distantPast }
    set { self[.submittedAt] = newValue }
  }
  package var endedAt: Date? {
    get { self[.endedAt] }
    set { self[.endedAt] = newValue }
  }
  package var total: Int {
    get { self[.total] ?? 0 }
    set { self[.total] = newValue }
  }
  /// Jobs that haven't ended.
  package var pending: Int {
    get { self[.pending] ?? 0 }
    set { self[.pending] = newValue }
  }
  /// Jobs that ended without having succeeded.
  package var failed: Int {
    get { self[.failed] ?? 0 }
    set { self[.failed] = newValue }
  }
  /// Jobs that are still in the queue's store: with the last of them the batch is removed.
  package var kept: Int {
    get { self[.kept] ?? 0 }
    set { self[.kept] = newValue }
  }
  /// The number of the job that follows them all.
  package var callback: Int64? {
    get { self[.callback] }
    set { self[.callback] = newValue }
  }
  /// How they are to have ended for the callback to run.
  package var condition: JobDependency.Condition {
    get { (self[.condition] as String?).flatMap(JobDependency.Condition.init) ?? .succeeded }
    set { self[.condition] = newValue.rawValue }
  }

  private subscript<T: AttributeValue>(slot: JobBatchSlot) -> T? {
    get { self[slot.rawValue] }
    set { self[slot.rawValue] = newValue }
  }
}

/// The slots of ``BatchRecord``.
enum JobBatchSlot: Int, CaseIterable {
  case name, submittedBy, submittedAt, endedAt, total, pending, failed, kept, callback, condition

  var propertyName: String { "\(self)" }
}

extension QueueModel {
  static var batchEntity: EntityDefinition {
    func number(_ slot: JobBatchSlot) -> AttributeDefinition {
      AttributeDefinition(slot.propertyName, .integer64, isOptional: false, defaultValue: .int(0))
    }
    return EntityDefinition(
      batch,
      attributes: [
        AttributeDefinition(JobBatchSlot.name.propertyName, .string),
        AttributeDefinition(JobBatchSlot.submittedBy.propertyName, .string, isOptional: false),
        AttributeDefinition(JobBatchSlot.submittedAt.propertyName, .date, isOptional: false),
        AttributeDefinition(JobBatchSlot.endedAt.propertyName, .date),
        number(.total), number(.pending), number(.failed), number(.kept),
        AttributeDefinition(JobBatchSlot.callback.propertyName, .integer64),
        AttributeDefinition(JobBatchSlot.condition.propertyName, .string, isOptional: false),
      ])
  }
}
