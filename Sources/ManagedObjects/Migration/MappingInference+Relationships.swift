// A relationship can take over another's pairs unless one of its ends holds fewer objects than before: a to-one end may become
// to-many, never the reverse. An end that is new or wasn't stored follows from the other end.

extension MappingInference {
  mutating func relationshipMapping(
    _ relationship: RelationshipDescription, _ entity: EntityDescription, _ source: EntityDescription
  ) -> PropertyMapping {
    let policy = "give it another name, or write an entity migration policy"
    guard let origin: RelationshipDescription = origin(of: relationship, in: entity) else {
      if !relationship.isOptional, !relationship.isToMany, !isFilledByInverse(relationship) {
        note(entity, relationship, "is new and required, and there is no object for it", "make it optional")
      }
      return PropertyMapping(relationship.name, nil)
    }
    if origin.isToMany, !relationship.isToMany {
      note(entity, relationship, "is to-one and was to-many", policy)
    }
    for former in origin.destinationEntity.selfAndDescendants {
      guard let image = images[former.name] else { continue }
      guard image.isKindOf(relationship.destinationEntity) else {
        note(
          entity, relationship,
          "leads to \(relationship.destinationEntity.name), and led to \(former.name), which is \(image.name) now",
          policy)
        break
      }
      checkInverse(of: relationship, entity, origin, through: image)
    }
    return PropertyMapping(relationship.name, .property(origin.name))
  }

  private mutating func checkInverse(
    of relationship: RelationshipDescription, _ entity: EntityDescription, _ origin: RelationshipDescription,
    through image: EntityDescription
  ) {
    guard let inverse = relationship.inverseRelationship else { return }
    if let former: RelationshipDescription = self.origin(of: inverse, in: image) {
      guard former.name != origin.inverseRelationship?.name else { return }
      note(
        entity, relationship, "has the inverse \(inverse.name), and had \(origin.inverseRelationship?.name ?? "none")",
        "leave the inverse as it was, or write an entity migration policy")
    } else if !inverse.isToMany, origin.inverseRelationship?.isToMany ?? true {
      note(
        entity, relationship, "has an inverse now that holds one object, where several may have pointed to the same",
        "make \(inverse.name) to-many, or write an entity migration policy")
    }
  }

  /// Whether the other end is an old relationship, from which this end follows.
  private func isFilledByInverse(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverseRelationship else { return false }
    return relationship.destinationEntity.selfAndDescendants.contains { image in
      (origin(of: inverse, in: image) as RelationshipDescription?) != nil
    }
  }
}
