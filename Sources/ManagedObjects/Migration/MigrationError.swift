/// Why a store can't be opened with a model, or can't be migrated to it. The store is as it was.
public enum MigrationError: Error, Sendable, Equatable {
  /// The store was made with another version of the model, and mustn't be migrated automatically; every entity that differs. Core Data: `NSPersistentStoreIncompatibleVersionHashError`.
  case incompatibleVersion(store: String, differences: [VersionDifference])
  /// The store was made with another version of the model, no mapping model leads from it, and none may be inferred; every
  /// entity that differs. Core Data: `NSMigrationMissingMappingModelError`.
  case missingMappingModel(store: String, differences: [VersionDifference])
  /// The migration can't be inferred; every obstacle. Core Data:
  /// `NSInferredMappingModelError`.
  case cannotInfer(obstacles: [MigrationObstacle])
  /// Rows have equal values in a uniqueness constraint of the new version; some of them.
  case notUnique(store: String, violations: [UniquenessViolation])
  /// Rows would refer to rows that don't exist; some of them, each as `Table.column: number`.
  case brokenReferences(store: String, references: [String])
  /// The store's model can't be read: it was written by a later version of this library, or by something else.
  case unreadableModel(store: String, reason: String)
  /// No stage of a staged migration has the store's version, or none after it has the model's.
  case unknownVersion(store: String, checksum: String)
  /// A staged migration passes through a version whose model wasn't given.
  case missingModel(checksum: String)
  /// Another program has migrated the store to another version of the model while this one had it open.
  case migratedElsewhere(store: String)
  /// A relationship's value can't be stored in a store's metadata.
  case unstorableMetadata(key: String)
}

/// One entity in which a store and a model differ.
public struct VersionDifference: Sendable, Equatable, CustomStringConvertible {
  /// How it differs.
  public enum Kind: Sendable, Equatable {
    /// The store doesn't have it.
    case added
    /// The model doesn't have it.
    case removed
    /// Both have it, in different versions: the differences, in words; empty when the store doesn't keep its model.
    case changed([String])
  }

  /// The entity's name.
  public let entity: String
  /// How it differs.
  public let kind: Kind

  /// The difference in words.
  public var description: String {
    switch kind {
    case .added: return "\(entity) is new"
    case .removed: return "\(entity) is gone"
    case .changed(let changes): return changes.isEmpty ? "\(entity) changed" : changes.joined(separator: ", ")
    }
  }
}

/// One obstacle to the inference of a migration.
public struct MigrationObstacle: Sendable, Equatable, CustomStringConvertible {
  /// The entity of the new version, or of the old one when the new one doesn't have it.
  public let entity: String
  /// Its property; nil when the entity itself is meant.
  public let property: String?
  /// The reason.
  public let problem: String
  /// What to do about it.
  public let remedy: String

  /// An obstacle.
  package init(_ entity: String, _ property: String? = nil, problem: String, remedy: String) {
    self.entity = entity
    self.property = property
    self.problem = problem
    self.remedy = remedy
  }

  /// The obstacle of values that the new type doesn't hold exactly.
  package static func inexact(
    _ attribute: AttributeDescription, of entity: EntityDescription, from origin: AttributeDescription, problem: String
  ) -> MigrationObstacle {
    MigrationObstacle(
      entity.name, attribute.name,
      problem: "is \(attribute.type.rawValue) and was \(origin.type.rawValue), and \(problem)",
      remedy: "make it Decimal, which holds every whole number")
  }

  /// What to do about values that the new type can't hold.
  package static func keepType(_ type: AttributeType) -> String {
    "keep the type \(type.rawValue), and give the new type to a new attribute that imports fill in; or let a program of "
      + "your own migrate the store with an entity migration policy"
  }

  /// The obstacle in words.
  public var description: String { "\(entity)\(property.map { "." + $0 } ?? "") \(problem): \(remedy)" }
}

/// Rows with equal values in a uniqueness constraint of the new version.
public struct UniquenessViolation: Sendable, Equatable, CustomStringConvertible {
  /// The entity, or the table where several share one.
  public let entity: String
  /// The attributes that must be unique together.
  public let constraint: [String]
  /// The values that several rows have, as text.
  public let values: [String]
  /// The number of rows that have them.
  public let count: Int

  package init(entity: String, constraint: [String], values: [String], count: Int) {
    self.entity = entity
    self.constraint = constraint
    self.values = values
    self.count = count
  }

  /// The violation in words.
  public var description: String {
    "\(count) rows of \(entity) have \(constraint.joined(separator: ", ")) = \(values.joined(separator: ", "))"
  }
}

extension MigrationError: CustomStringConvertible {
  /// What happened, where, and what to do.
  public var description: String {
    switch self {
    case .incompatibleVersion(let store, let differences):
      return "\(store) was made with another version of the model (\(list(differences))): let it be migrated with "
        + "shouldMigrateStoreAutomatically, or open it with the model that made it"
    case .missingMappingModel(let store, let differences):
      return
        "\(store) was made with another version of the model (\(list(differences))), and no mapping model was given "
        + "for it: give one, or let it be inferred with shouldInferMappingModelAutomatically"
    case .cannotInfer(let obstacles): return "the migration can't be inferred: \(list(obstacles))"
    case .notUnique(let store, let violations):
      return
        "\(store) can't be migrated: \(list(violations)). Delete or change all but one of each first, or leave "
        + "the uniqueness constraint or primary key out"
    case .brokenReferences(let store, let references):
      return "\(store) can't be migrated: rows refer to rows that don't exist (\(list(references)))"
    case .unreadableModel(let store, let reason):
      return
        "the model that the store \(store) keeps can't be read, so it can't be migrated: \(reason). Was it written "
        + "by a later version of this library?"
    case .unknownVersion(let store, let checksum):
      return "\(store) is of the version with the checksum \(checksum), from which no stage leads to the model: add one"
    case .missingModel(let checksum):
      return "the migration passes through the version with the checksum \(checksum): give its model to the stage"
    case .migratedElsewhere(let store):
      return
        "\(store) was migrated by another program while this one had it open: start this one again with the new model"
    case .unstorableMetadata(let key): return "\(key) is a relationship's value, which metadata can't hold"
    }
  }

  private func list(_ items: [some CustomStringConvertible]) -> String {
    items.map(\.description).joined(separator: "; ")
  }
}
