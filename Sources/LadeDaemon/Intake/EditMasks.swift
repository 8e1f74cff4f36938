import Jobs
import LadeTypes
import ManagedObjects

/// Why a property can't be edited.
enum EditRefusal {
  static let masked = "it is masked, so what is in the store isn't what anybody would type"

  /// Nil where nothing of the model stands in the way.
  static func of(_ attribute: AttributeDescription, in entity: EntityDescription) -> String? {
    if attribute.isDerived { return "it is derived from others" }
    if attribute === entity.primaryKey { return "it numbers the objects" }
    switch attribute.type {
    case .binaryData, .transformable: return "it is binary"
    case .composite, .objectID, .undefined: return "it is of the type \(attribute.type.rawValue)"
    default: return nil
    }
  }
}

extension SubmissionPlan {
  /// The attributes that the model or a recipe of the configuration masks.
  func maskedAttributes(of entity: EntityDescription, in store: DataStores.Store) -> Set<String> {
    RecipeMasks(configuration.maskingRecipes, into: store).names(of: entity).union(entity.attributesMaskedByModel)
  }

  /// Refuses an edit that would put a clear value where a mask belongs.
  /// - Throws: ``SubmissionProblem``.
  func checkMasks(ofEdit submission: JobSubmission, in store: DataStores.Store) throws {
    guard submission.kind == EditOperation.kind,
      let entity = submission.entity.flatMap({ store.coordinator.model.entitiesByName[$0] })
    else { return }
    var named: [(option: String, name: String)] = []
    if case .map(let values) = submission.options["set"] { named += values.keys.map { ("set", $0) } }
    if case .list(let names) = submission.options["clear"] {
      for case .string(let name) in names { named.append(("clear", name)) }
    }
    let masked = maskedAttributes(of: entity, in: store)
    guard let (option, name) = named.sorted(by: { $0.name < $1.name }).first(where: { masked.contains($0.name) }) else {
      return
    }
    throw SubmissionProblem(
      field: "options.\(option).\(name)", reason: EditRefusal.masked,
      advice: "Leave it out, or import the object again.")
  }
}
