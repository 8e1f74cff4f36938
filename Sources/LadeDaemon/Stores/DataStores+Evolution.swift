// A model evolves in this order, and a kill between any two steps leaves what the next start completes:
//
//   the version is in the folder, durably      ─▶ nothing uses it; the job, which runs again, makes it current
//   it is the current version, durably         ─▶ the store is migrated to it when it is opened
//   the store is migrated, in one transaction  ─▶ the job imports
//
// It is taken back in the other order: first the store, then the current version. A kill between leaves a store that is
// migrated forward again when it is opened, and a job that runs again.

import Foundation
import Importing
import Jobs
import Logging
import ManagedObjects

extension DataStores {
  /// Makes a version of a store's model current in which it has evolved for a file, and migrates the store to it. Nothing else
  /// may use the store.
  /// - Throws: ``MappingError/cannotEvolve(reason:)``, or what ``migrate(_:_:_:)`` throws: the former version is current then.
  func evolve(
    _ name: String, _ evolution: SchemaEvolution, for origin: ModelOrigin, _ watch: MaintenanceWatch, _ logger: Logger
  ) throws {
    guard let store = self[name] else { throw DaemonError.store(name: name, reason: "it isn't in the configuration") }
    let bundle = ModelBundle(store.configuration.model)
    let former = try bundle.current()
    // What is compared is the model that the store was opened with.
    let now = try ImportModel.adding(to: bundle.model(of: former))
    guard try ModelDefinition(now).text() == ModelDefinition(store.coordinator.model).text() else {
      throw MappingError.cannotEvolve(
        reason: "\(bundle.path) has changed since the store was opened: first run ladectl store migrate \(name)")
    }
    let version = try bundle.add(
      evolution.xml,
      .init(former: former, job: origin.job, source: origin.source, changes: evolution.changes))
    try bundle.makeCurrent(version)
    do {
      _ = try migrate(name, watch, logger)
    } catch {
      try bundle.makeCurrent(former)
      throw error
    }
    logger.notice(
      "store \(name): its model has evolved to \(version), for job \(origin.number): \(Self.words(evolution.changes))",
      metadata: JournalMessage.modelEvolved.metadata(["store": "\(name)", "job": "\(origin.number)"]))
  }

  /// What a job has made of the model, if the current version is its.
  func evolved(_ name: String, by job: String) throws -> String? {
    guard let store = self[name] else { return nil }
    let bundle = ModelBundle(store.configuration.model)
    let version = try bundle.current()
    guard let evolution = bundle.evolution(of: version), evolution.job == job else { return nil }
    return "\(Self.words(evolution.changes)), in \(version)"
  }

  /// Takes back the current version of a store's model, which an import has made. Nothing else may use the store.
  /// - Parameters:
  ///   - force: whether values may be lost.
  ///   - check: refuses the store with its former model.
  /// - Throws: ``JobFailure``, or what ``migrate(_:_:_:)`` throws: everything is as it was then.
  func revert(
    _ name: String, force: Bool, _ watch: MaintenanceWatch, _ logger: Logger, check: (Store) throws -> Void
  ) throws -> MigrationReport {
    guard let store = self[name] else { throw DaemonError.store(name: name, reason: "it isn't in the configuration") }
    let bundle = ModelBundle(store.configuration.model)
    let version = try bundle.current()
    guard let evolution = bundle.evolution(of: version) else {
      throw JobFailure(
        code: "nothing_to_revert", message: "no import has made \(version), the current version of the model",
        isRetryable: false)
    }
    let former = "\(bundle.path)/\(evolution.former)"
    let before = try Self.read(store.configuration, model: former)
    let losses = try Losses(from: store.coordinator.model, to: before.coordinator.model)
    if !force { try losses.check(in: store.coordinator) }
    try check(before)
    var report = try migrate(name, to: former, losing: losses.names, watch, logger)
    try bundle.makeCurrent(evolution.former)
    report.remarks.append("\(evolution.former) is the current version")
    logger.notice(
      "store \(name): its model is \(evolution.former) again, and not \(version)",
      metadata: JournalMessage.modelReverted.metadata(["store": "\(name)"]))
    return report
  }

  /// A few changes, in words. A note isn't a list.
  private static func words(_ changes: [String]) -> String {
    changes.prefix(20).joined(separator: "; ") + (changes.count > 20 ? "; and \(changes.count - 20) more" : "")
  }

  /// What one model has and another doesn't.
  private struct Losses {
    /// As a migration's permission names them.
    var names: Set<String> = []
    private var entities: [String] = []
    private var attributes: [(entity: String, attribute: String)] = []

    /// - Throws: ``JobFailure`` if an attribute's type would become narrower.
    init(from model: ManagedObjectModel, to former: ManagedObjectModel) throws {
      for entity in model.entities {
        guard let other = former.entitiesByName[entity.name] else {
          names.insert(entity.name)
          if !entity.isAbstract { entities.append(entity.name) }
          continue
        }
        let known = Dictionary(other.definition.attributes.map { ($0.name, $0.type) }) { first, _ in first }
        for attribute in entity.definition.attributes {
          guard let type = known[attribute.name] else {
            names.insert("\(entity.name).\(attribute.name)")
            attributes.append((entity.name, attribute.name))
            continue
          }
          guard type == attribute.type else {
            throw JobFailure(
              code: "cannot_revert",
              message:
                "\(entity.name).\(attribute.name) has become \(attribute.type.rawValue), and values of it can't be "
                + "made \(type.rawValue) again",
              isRetryable: false)
          }
        }
      }
    }

    /// - Throws: ``JobFailure`` if there are values that would be lost.
    func check(in coordinator: PersistentStoreCoordinator) throws {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "revert")
      var lost: [String] = []
      for entity in entities {
        let count = try context.count(for: FetchRequest<ManagedObject>(entityName: entity))
        if count > 0 { lost.append("\(count) \(entity)") }
      }
      for (entity, attribute) in attributes {
        let request = FetchRequest<ManagedObject>(
          entityName: entity, predicate: .notEqual(attribute, .null))
        let count = try context.count(for: request)
        if count > 0 { lost.append("\(count) value(s) of \(entity).\(attribute)") }
      }
      guard !lost.isEmpty else { return }
      throw JobFailure(
        code: "would_lose", message: "\(lost.joined(separator: ", ")) would be lost: with --force they are",
        isRetryable: false)
    }
  }
}
