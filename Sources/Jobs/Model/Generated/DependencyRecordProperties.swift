// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import ManagedObjects

extension DependencyRecord {
  /// A request for all objects of the entity JobDependency.
  package static func fetchRequest() -> FetchRequest<DependencyRecord> {
    FetchRequest(entityName: "JobDependency")
  }

  /// The number of the job that is followed, which may have been removed.
  package var on: Int64 {
    get { self[0] ?? 0 }
    set { self[0] = newValue }
  }

  package var condition: JobDependency.Condition {
    get { self[1] ?? .succeeded }
    set { self[1] = newValue }
  }

  /// Whether the job that is followed has ended, or no longer matters.
  package var isSettled: Bool {
    get { self[2] ?? false }
    set { self[2] = newValue }
  }

  package var job: JobRecord? {
    get { object(3) }
    set { setObject(newValue, 3) }
  }
}
