/// The stages of a migration from any earlier version to the present one.
///
/// ```swift
/// description.stagedMigrationManager = StagedMigrationManager([
///   .lightweight([.init(version1), .init(version2)]),
///   .custom(from: .init(version2), to: .init(version3), willMigrate: { context in … }),
/// ])
/// ```
///
/// The stages are in the order of the versions. Between the versions of a stage, and from one stage to the next, the migration
/// is inferred. The store is migrated as a copy. Crash-safe: a killed process leaves either the old or the new store.
///
/// Source: Core Data's `NSStagedMigrationManager`, where the store itself goes through the stages, and a lightweight
/// stage leads from its first version to its last in one.
public final class StagedMigrationManager: Sendable {
  /// Code that works on the store between versions, on the thread that opens it. Its changes are saved when it returns.
  public typealias Handler = @Sendable (ManagedObjectContext) throws -> Void

  /// One stage.
  public enum Stage: Sendable {
    /// Versions that follow one another by inference. Core Data: `NSLightweightMigrationStage`.
    case lightweight([ManagedObjectModelReference])
    /// Two versions with code that runs on the store at the first version, and at the second. Core Data:
    /// `NSCustomMigrationStage`.
    case custom(
      from: ManagedObjectModelReference, to: ManagedObjectModelReference, willMigrate: Handler? = nil,
      didMigrate: Handler? = nil)
    /// Two versions with a mapping model of the program's own between them. Not in Core Data.
    case mapped(MappingModel)
  }

  /// The stages, first to last.
  public let stages: [Stage]

  /// A manager of stages in the order of the versions.
  public init(_ stages: [Stage]) { self.stages = stages }
}

/// A version of a model, by the model or by its checksum alone.
///
/// The checksum is enough for a version that stores are only migrated from: stores keep their model.
///
/// Source: Core Data's `NSManagedObjectModelReference`.
public struct ManagedObjectModelReference: Sendable {
  /// The version's checksum, see ``ManagedObjectModel/versionChecksum``.
  public let versionChecksum: String
  /// The model, when it was given.
  public let model: ManagedObjectModel?

  /// The version of a model.
  public init(_ model: ManagedObjectModel) {
    self.model = model
    versionChecksum = model.versionChecksum
  }

  /// The version with that checksum.
  public init(versionChecksum: String) {
    self.versionChecksum = versionChecksum
    model = nil
  }
}

extension StagedMigrationManager {
  /// One step from a version to the next.
  package struct Step: Sendable {
    package let destination: ManagedObjectModel
    package let mapping: MappingModel?
    package let willMigrate: Handler?
    package let didMigrate: Handler?
  }

  /// The steps from a version to that of a model, which is the last.
  /// - Throws: ``MigrationError/unknownVersion(store:checksum:)`` when no stage has the store's version, or none after it
  ///   has the model's, ``MigrationError/missingModel(checksum:)``.
  package func steps(
    from checksum: String, to model: ManagedObjectModel, store: String
  ) throws -> [Step] {
    var versions: [(reference: ManagedObjectModelReference, step: Way)] = []
    func add(_ reference: ManagedObjectModelReference, _ way: Way = Way()) {
      if versions.last?.reference.versionChecksum == reference.versionChecksum { return }
      versions.append((reference, way))
    }
    for stage in stages {
      switch stage {
      case .lightweight(let references): for reference in references { add(reference) }
      case .custom(let from, let to, let willMigrate, let didMigrate):
        add(from)
        add(to, Way(willMigrate: willMigrate, didMigrate: didMigrate))
      case .mapped(let mapping):
        add(ManagedObjectModelReference(mapping.sourceModel))
        add(ManagedObjectModelReference(mapping.destinationModel), Way(mapping: mapping))
      }
    }
    let last = ManagedObjectModelReference(model)
    if !versions.contains(where: { $0.reference.versionChecksum == last.versionChecksum }) { add(last) }
    guard let start = versions.lastIndex(where: { $0.reference.versionChecksum == checksum }),
      let end = versions[start...].firstIndex(where: { $0.reference.versionChecksum == last.versionChecksum })
    else { throw MigrationError.unknownVersion(store: store, checksum: checksum) }
    return try versions[start...end].dropFirst().map { reference, way in
      let isLast = reference.versionChecksum == last.versionChecksum
      guard let destination = isLast ? model : reference.model else {
        throw MigrationError.missingModel(checksum: reference.versionChecksum)
      }
      return Step(
        destination: destination, mapping: way.mapping, willMigrate: way.willMigrate, didMigrate: way.didMigrate)
    }
  }

  private struct Way {
    var mapping: MappingModel?
    var willMigrate: Handler?
    var didMigrate: Handler?
  }
}
