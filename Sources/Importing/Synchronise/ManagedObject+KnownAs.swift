package import ManagedObjects

extension ManagedObject {
  /// What a person knows an object by: its key, or else its number.
  package var knownAs: String {
    for constraint in entity.uniquenessConstraints {
      let values = constraint.map { value(at: $0.slot) }
      if !values.contains(.null) { return "“\(values.map(\.plainText.shown).joined(separator: ", "))”" }
    }
    return "number \(objectID.number)"
  }
}
