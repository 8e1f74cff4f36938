package import ManagedObjects

/// Which operation does which kind of job. A program that links the library adds its own.
public struct OperationCatalogue: Sendable {
  /// Makes the operation for a job that was claimed.
  public typealias Factory = @Sendable (Job, JobEnvironment) -> JobOperation

  private struct Entry: Sendable {
    var access: StoreAccess
    var replacesContent = false
    var factory: Factory
    var check: @Sendable (JobSubmission, ManagedObjectModel) throws -> Void = { _, _ in }
  }
  private var entries: [String: Entry]

  /// A catalogue of factories by kind, which share their store with others.
  public init(_ factories: [String: Factory] = [:]) {
    entries = factories.mapValues { Entry(access: .shared, factory: $0) }
  }

  /// Adds the operations of a class, or replaces those of that kind. They share the store as the class says.
  public mutating func add(_ kind: String, _ operation: JobOperation.Type) {
    entries[kind] = Entry(
      access: operation.access, replacesContent: operation.replacesContent,
      factory: { operation.init(job: $0, environment: $1) }, check: operation.check)
  }

  /// Adds a factory, or replaces that of the kind.
  public mutating func add(_ kind: String, access: StoreAccess = .shared, _ factory: @escaping Factory) {
    entries[kind] = Entry(access: access, factory: factory)
  }

  /// Adds all operations of another catalogue, which replace those of the same kinds.
  public mutating func add(_ others: OperationCatalogue) { entries.merge(others.entries) { $1 } }

  /// The kinds that are known, in alphabetical order.
  public var kinds: [String] { entries.keys.sorted() }

  /// How jobs of a kind share their store; `none` for a kind that isn't known, whose jobs only fail.
  public func access(of kind: String) -> StoreAccess { entries[kind]?.access ?? .none }

  /// Whether jobs of a kind replace the content of their store; see ``JobOperation/replacesContent``.
  package func replacesContent(_ kind: String) -> Bool { entries[kind]?.replacesContent ?? false }

  /// Looks at what a submission says, as its operation understands it; see ``JobOperation/check(_:in:)``.
  /// - Throws: ``JobFailure``.
  package func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    do {
      try entries[submission.kind]?.check(submission, model)
    } catch {
      throw JobFailure(error)
    }
  }

  func factory(for kind: String) -> Factory? { entries[kind]?.factory }
}

extension OperationCatalogue {
  /// The operations of this library: `import`, `export`, `prune` and `update`, and those that look after stores.
  public static var standard: OperationCatalogue {
    var catalogue = OperationCatalogue()
    catalogue.add(ImportOperation.kind, ImportOperation.self)
    catalogue.addObjects()
    catalogue.addMaintenance()
    return catalogue
  }
}

extension OperationCatalogue {
  /// Adds the operations on the objects of data stores.
  package mutating func addObjects() {
    add(ExportOperation.kind, ExportOperation.self)
    add(PruneOperation.kind, PruneOperation.self)
    add(UpdateOperation.kind, UpdateOperation.self)
  }
}

extension OperationCatalogue {
  /// Adds the operations that look after data stores.
  package mutating func addMaintenance() {
    add(VacuumOperation.kind, VacuumOperation.self)
    add(OptimiseOperation.kind, OptimiseOperation.self)
    add(CheckpointOperation.kind, CheckpointOperation.self)
    add(ReindexOperation.kind, ReindexOperation.self)
    add(BackupOperation.kind, BackupOperation.self)
    add(RestoreOperation.kind, RestoreOperation.self)
    add(CheckOperation.kind, CheckOperation.self)
    add(MigrateOperation.kind, MigrateOperation.self)
  }
}
