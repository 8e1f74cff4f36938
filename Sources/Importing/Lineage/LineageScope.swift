package import ManagedObjects

/// The rows of which a job records where they come from.
package struct LineageScope: Sendable {
  /// The key of an entity's user info, and of a recipe, that says so.
  package static let key = "lineage"
  /// The numbers of the entities in the model.
  private let entities: Set<Int>

  /// - Parameters:
  ///   - option: what the recipe says; nil for what the entities say.
  ///   - target: the entity that the job is about. If it says so itself, all that the job does is recorded: what goes along with
  ///     its rows belongs to them.
  /// - Returns: nil when nothing is to be recorded.
  package init?(_ option: Bool?, of target: EntityDescription?, in model: ManagedObjectModel) {
    guard option != false, model.entitiesByName[ImportModel.lineageEntity] != nil else { return nil }
    let data = model.entities.filter { !ImportModel.entities.contains($0.name) }
    let isWhole = option == true || target.map(Self.isTraced) == true
    let chosen = isWhole ? data : data.filter(Self.isTraced)
    if chosen.isEmpty { return nil }
    entities = Set(chosen.map(\.index))
  }

  /// Whether rows of an entity are recorded.
  @inline(__always)
  package func contains(_ entity: EntityDescription) -> Bool { entities.contains(entity.index) }

  /// Whether an entity, or one that it inherits from, says that the origin of its rows is to be recorded.
  package static func isTraced(_ entity: EntityDescription) -> Bool {
    var next: EntityDescription? = entity
    while let entity = next {
      if let word = entity.userInfo[key]?.lowercased() { return ["true", "yes", "1"].contains(word) }
      next = entity.superentity
    }
    return false
  }
}
