import Importing
import ManagedObjects

/// The objects that an operation is to change: those of an entity that match, gone through by their numbers.
struct Selection {
  let entity: EntityDescription
  let predicate: FetchPredicate?
  let includesSubentities: Bool

  /// - Parameters:
  ///   - format: which objects, in the predicate language.
  ///   - isAll: whether all are meant where nothing is said.
  /// - Throws: ``JobFailure`` when neither says which, or a predicate that isn't one.
  init(_ entity: EntityDescription, format: String?, isAll: Bool, includesSubentities: Bool, verb: String) throws {
    self.entity = entity
    self.includesSubentities = includesSubentities
    let text = format?.drop { $0.isWhitespace }
    guard let text, !text.isEmpty else {
      guard isAll else {
        throw JobFailure(
          code: "bad_options",
          message:
            "where says nothing: to \(verb) every \(entity.name) say all: true, otherwise which, as where: \"…\"",
          isRetryable: false)
      }
      predicate = nil
      return
    }
    guard !isAll else {
      throw JobFailure(
        code: "bad_options", message: "where and all: true contradict each other: leave one out", isRetryable: false)
    }
    predicate = try FetchPredicate(format: String(text))
  }

  /// Looks whether the entity has what the predicate speaks of.
  /// - Throws: `FetchPredicateError`.
  func check() throws { _ = try predicate?.resolved(in: entity) }

  /// The next objects in the order of their numbers.
  func request(after last: ManagedObjectID?, limit: Int) -> FetchRequest<ManagedObject> {
    let rest = last.map { FetchPredicate.comparison(.path("SELF"), .greater, .constant(.object($0))) }
    let conditions = [rest, predicate].compactMap { $0 }
    return FetchRequest(
      entityName: entity.name, predicate: conditions.isEmpty ? nil : .and(conditions), fetchLimit: limit,
      includesSubentities: includesSubentities, includesPendingChanges: false)
  }

  /// How many there are.
  func count(in context: ManagedObjectContext) throws -> Int64 {
    Int64(
      try context.count(
        for: FetchRequest<ManagedObject>(
          entityName: entity.name, predicate: predicate, includesSubentities: includesSubentities)))
  }
}

/// The entities with the user's data, without those in which imports keep their own.
enum DataEntities {
  static func of(_ model: ManagedObjectModel) -> [EntityDescription] {
    model.entities.filter { !ImportModel.entities.contains($0.name) }
  }
}
