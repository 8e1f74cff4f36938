public import ManagedObjects

/// Which operation does which kind of job. A program that links the library adds its own.
public struct OperationCatalogue: Sendable {
  /// Makes the operation for a job that was claimed.
  public typealias Factory = @Sendable (Job, JobEnvironment) -> JobOperation

  private struct Entry: Sendable {
    var access: StoreAccess
    var accessByOptions: (@Sendable (String) -> StoreAccess)?
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
      access: operation.access, accessByOptions: { operation.access(for: $0) },
      replacesContent: operation.replacesContent,
      factory: { operation.init(job: $0, environment: $1) }, check: operation.check)
  }

  /// Adds a factory, or replaces that of the kind.
  public mutating func add(_ kind: String, access: StoreAccess = .shared, _ factory: @escaping Factory) {
    entries[kind] = Entry(access: access, factory: factory)
  }

  /// Adds operations that a closure does, or replaces those of the kind. They need no class of their own.
  ///
  /// ```swift
  /// struct Move: Decodable {
  ///   var to: String
  /// }
  ///
  /// operations.add("move", options: Move.self) { operation, options in
  ///   let context = try operation.context()
  ///   for person in try context.fetch(Person.fetchRequest()) { person.home = options.to }
  ///   try context.save()
  ///   return .completed(JobProgress())
  /// }
  /// ```
  /// - Parameters:
  ///   - options: what the jobs' options are decoded as. A job with others is refused at its submission.
  ///   - check: refuses a submission by throwing; see ``JobOperation/check(_:in:)``.
  ///   - perform: does the work, as ``JobOperation/perform()`` does.
  public mutating func add<Options: Decodable & SendableMetatype>(
    _ kind: String, options: Options.Type, access: StoreAccess = .shared,
    check: (@Sendable (Options, ManagedObjectModel) throws -> Void)? = nil,
    perform: @escaping @Sendable (JobOperation, Options) throws -> JobOutcome
  ) {
    entries[kind] = Entry(
      access: access,
      factory: { job, environment in
        ClosureOperation(job: job, environment: environment) { operation in
          try perform(operation, try operation.job.decodeOptions(as: Options.self))
        }
      },
      check: { submission, model in
        let options = try submission.decodeOptions(as: Options.self)
        try check?(options, model)
      })
  }

  /// Adds all operations of another catalogue, which replace those of the same kinds.
  public mutating func add(_ others: OperationCatalogue) { entries.merge(others.entries) { $1 } }

  /// The kinds that are known, in alphabetical order.
  public var kinds: [String] { entries.keys.sorted() }

  /// How jobs of a kind share their store; `none` for a kind that isn't known, whose jobs only fail.
  public func access(of kind: String) -> StoreAccess { entries[kind]?.access ?? .none }

  /// How a job of a kind shares its store, by its options.
  package func access(of kind: String, _ options: String) -> StoreAccess {
    guard let entry = entries[kind] else { return .none }
    return entry.accessByOptions?(options) ?? entry.access
  }

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

  /// With the operation on the queue itself, of which nobody else makes jobs: so it isn't among the `kinds` of the others.
  func withChanges() -> OperationCatalogue {
    var all = self
    all.add(ChangeOperation.kind, ChangeOperation.self)
    return all
  }

  /// The kinds of which jobs can be submitted.
  var submittedKinds: [String] { kinds.filter { $0 != ChangeOperation.kind } }

  func factory(for kind: String) -> Factory? { entries[kind]?.factory }
}

/// An operation whose work is a closure.
private final class ClosureOperation: JobOperation, @unchecked Sendable {
  // Sendable: what it adds is constant.
  private let body: @Sendable (JobOperation) throws -> JobOutcome

  init(job: Job, environment: JobEnvironment, body: @escaping @Sendable (JobOperation) throws -> JobOutcome) {
    self.body = body
    super.init(job: job, environment: environment)
  }

  required init(job: Job, environment: JobEnvironment) {
    body = { _ in throw JobFailure(code: "not_implemented", message: "the operation has no work", isRetryable: false) }
    super.init(job: job, environment: environment)
  }

  override func perform() throws -> JobOutcome { try body(self) }
}

extension OperationCatalogue {
  /// The operations of this library: `import`, `export`, `prune`, `update`, `edit` and `undo`, and those that look after stores.
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
    add(UndoOperation.kind, UndoOperation.self)
    add(EditOperation.kind, EditOperation.self)
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
    add(RevertOperation.kind, RevertOperation.self)
  }
}
