/// Which operation does which kind of job. A program that links the library adds its own.
public struct OperationCatalogue: Sendable {
  /// Makes the operation for a job that was claimed.
  public typealias Factory = @Sendable (JobSnapshot, JobEnvironment) -> JobOperation

  private var factories: [String: Factory]

  /// A catalogue of factories by kind.
  public init(_ factories: [String: Factory] = [:]) { self.factories = factories }

  /// Adds the operations of a class, or replaces those of that kind.
  public mutating func add(_ kind: String, _ operation: JobOperation.Type) {
    factories[kind] = { operation.init(job: $0, environment: $1) }
  }

  /// Adds a factory, or replaces that of the kind.
  public mutating func add(_ kind: String, _ factory: @escaping Factory) { factories[kind] = factory }

  /// The kinds that are known, in alphabetical order.
  public var kinds: [String] { factories.keys.sorted() }

  func factory(for kind: String) -> Factory? { factories[kind] }
}
