import ManagedObjects

/// A relationship that no delete rule clears when its objects are deleted: one without an inverse, or whose inverse does nothing.
/// The store clears it.
struct LooseReference {
  private static let page = 10_000
  let relationship: RelationshipDescription

  init(_ relationship: RelationshipDescription) { self.relationship = relationship }

  /// The objects that refer to some in the store.
  func holders(of ids: Set<ManagedObjectID>, in context: ManagedObjectContext) throws -> [ManagedObject] {
    var holders: [ManagedObject] = []
    for part in Array(ids).parts(of: Self.page) {
      let isHeld = FetchPredicate.Comparison(
        .path(relationship.name), .isIn, .constants(part.map { .object($0) }),
        modifier: relationship.isToMany ? .any : .direct)
      holders += try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: relationship.entity.name, predicate: .comparison(isHeld), includesPendingChanges: false))
    }
    return holders
  }

  /// Those of the objects that a holder refers to at present.
  func held(_ ids: Set<ManagedObjectID>, by holder: ManagedObject) -> [ManagedObjectID] {
    guard let own = holder.entity.propertiesByName[relationship.name] as? RelationshipDescription else { return [] }
    if own.isToMany { return holder.resolved(own).relatedIDs.filter(ids.contains) }
    if case .object(let id) = holder.value(at: own.slot), ids.contains(id) { return [id] }
    return []
  }

  func clear(_ ids: Set<ManagedObjectID>, in holder: ManagedObject) {
    guard let own = holder.entity.propertiesByName[relationship.name] as? RelationshipDescription,
      !held(ids, by: holder).isEmpty
    else { return }
    if own.isToMany {
      holder.hold(own, holder.resolved(own).relatedIDs.filter { !ids.contains($0) })
    } else {
      holder.point(own, to: nil)
    }
  }
}
