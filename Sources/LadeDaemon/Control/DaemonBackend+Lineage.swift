import ControlAPI
import ControlServer
import Importing
import Jobs
import ManagedObjects

extension DaemonBackend {
  func origins(_ query: OriginQuery, by peer: Peer) async throws -> RowOrigins {
    let (store, entity) = try target(ObjectQuery(entity: query.entity, store: query.store))
    let predicate = try predicate(of: query, entity, in: store, by: peer)
    let objects = try await reading(store, by: peer) { context in
      let found = try context.fetch(
        FetchRequest<ManagedObject>(entityName: query.entity, predicate: predicate, fetchLimit: query.limit))
      return try found.map { object in
        let steps = try RowHistory.steps(of: object.objectID, in: context)
        return RowOrigin(
          number: object.objectID.number, key: object.keyDescription, steps: steps.map(OriginStep.init))
      }
    }
    if objects.isEmpty, let key = query.key {
      throw ControlError.invalid(
        field: "key", reason: "\(store.configuration.name) has no \(query.entity) “\(key)”",
        hint: "'ladectl fetch \(query.entity)' shows what there is.")
    }
    return RowOrigins(entity: query.entity, store: store.configuration.name, objects: objects)
  }

  private func predicate(
    of query: OriginQuery, _ entity: EntityDescription, in store: DataStores.Store, by peer: Peer
  ) throws -> FetchPredicate {
    switch (query.key, query.predicate) {
    case (nil, let format?):
      let predicate = try FetchPredicate(where: format, of: entity, in: store)
      try permissions.check(predicate, by: peer)
      return predicate
    case (let key?, nil): return try self.predicate(ofKey: key, entity, in: store)
    default:
      throw ControlError.invalid(
        field: "key", reason: "which \(query.entity) is meant must be said by either key or where")
    }
  }

  /// The object with a key, as people write it.
  private func predicate(
    ofKey key: String, _ entity: EntityDescription, in store: DataStores.Store
  ) throws -> FetchPredicate {
    if let attribute = entity.uniquenessConstraints.first(where: { $0.count == 1 })?.first {
      guard let value = try RowHistory.key(key, of: attribute) else {
        throw ControlError.invalid(
          field: "key",
          reason:
            "“\(key)” can't be a \(attribute.name) of \(entity.name), which is of the type \(attribute.type.rawValue)")
      }
      return .equal(attribute.name, value)
    }
    guard let number = Int64(key) else {
      throw ControlError.invalid(
        field: "key", reason: "\(entity.name) has no key of one attribute, and “\(key)” isn't an object's number",
        hint: "Give where with a predicate.")
    }
    let id = try store.coordinator.managedObjectID(entity: entity.name, number: number)
    return .comparison(.path("SELF"), .equal, .constant(.object(id)))
  }
}

extension OriginStep {
  init(_ step: RowHistory.Step) {
    let event =
      switch step.event {
      case .inserted: "inserted"
      case .updated: "updated"
      case .deleted: "deleted"
      }
    self.init(
      event: event, job: step.job, kind: step.kind, submittedBy: step.submitter, submittedAt: step.submitted)
    func known(_ text: String) -> String? { text.isEmpty ? nil : text }
    file = known(step.file)
    sha256 = known(step.digest)
    member = known(step.member)
    recipe = known(step.recipe)
    endedAt = step.ended
    if step.place.record > 0 {
      record = step.place.record
      line = step.place.line
      byte = step.place.byte
    }
    undoes = step.undoes == 0 ? nil : step.undoes
    undoneBy = step.undoneBy == 0 ? nil : step.undoneBy
  }
}
