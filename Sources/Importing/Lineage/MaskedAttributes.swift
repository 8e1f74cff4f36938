package import ManagedObjects

/// The attributes that an import masks. What a mask replaces may be in clear, and isn't kept for an undo.
final class MaskedAttributes {
  private let target: EntityDescription
  private let names: Set<String>
  private var slots: [ObjectIdentifier: Set<Int>] = [:]

  /// - Parameter masks: those of the import, by slot of the entity that it is into.
  init(_ masks: [Int: ValueMask], of target: EntityDescription) {
    self.target = target
    names = Set(target.attributes.filter { masks[$0.slot] != nil }.map(\.name))
  }

  /// The slots of an entity's masked attributes.
  func slots(of entity: EntityDescription) -> Set<Int> {
    if let known = slots[ObjectIdentifier(entity)] { return known }
    let isOfTarget = entity.isKindOf(target) || target.isKindOf(entity)
    let masked = entity.attributes.filter {
      MaskPlan.modelMask(of: $0) != nil || (isOfTarget && names.contains($0.name))
    }
    let found = Set(masked.map(\.slot))
    slots[ObjectIdentifier(entity)] = found
    return found
  }
}

extension EntityDescription {
  /// The names of the attributes that the model itself masks.
  package var attributesMaskedByModel: Set<String> {
    Set(attributes.filter { MaskPlan.modelMask(of: $0) != nil }.map(\.name))
  }
}
