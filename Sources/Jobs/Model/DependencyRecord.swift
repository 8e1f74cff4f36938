package import ManagedObjects

/// A job follows another: a row for each job that it follows.
package final class DependencyRecord: ManagedObject {
  package override class var propertyNames: [String]? { JobDependencySlot.allCases.map(\.name) }
  package override class var validatesValues: Bool { false }

  /// The number of the job that is followed, which may have been removed.
  package var on: Int64 {
    get { self[.on] ?? 0 }
    set { self[.on] = newValue }
  }
  package var condition: JobDependency.Condition {
    get { (self[.condition] as String?).flatMap(JobDependency.Condition.init) ?? .succeeded }
    set { self[.condition] = newValue.rawValue }
  }
  /// Whether the job that is followed has ended, or it doesn't matter any more.
  package var isSettled: Bool {
    get { self[.isSettled] ?? false }
    set { self[.isSettled] = newValue }
  }
  package var job: JobRecord? {
    get { object(JobDependencySlot.job.rawValue) }
    set { setObject(newValue, JobDependencySlot.job.rawValue) }
  }

  private subscript<T: AttributeValue>(slot: JobDependencySlot) -> T? {
    get { self[slot.rawValue] }
    set { self[slot.rawValue] = newValue }
  }
}

/// The slots of ``DependencyRecord``.
enum JobDependencySlot: Int, CaseIterable {
  case on, condition, isSettled, job

  var name: String { "\(self)" }
}

extension QueueModel {
  static var dependencyEntity: EntityDefinition {
    EntityDefinition(
      dependency,
      attributes: [
        AttributeDefinition(JobDependencySlot.on.name, .integer64, isOptional: false),
        AttributeDefinition(JobDependencySlot.condition.name, .string, isOptional: false),
        AttributeDefinition(
          JobDependencySlot.isSettled.name, .boolean, isOptional: false, defaultValue: .bool(false)),
      ],
      relationships: [
        RelationshipDefinition(
          JobDependencySlot.job.name, to: job, inverse: JobSlot.dependencies.name, isOptional: false)
      ],
      indexes: [FetchIndexDefinition("on", elements: [.init(property: JobDependencySlot.on.name)])])
  }
}
