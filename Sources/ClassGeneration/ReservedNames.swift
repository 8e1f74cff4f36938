/// Names that a property can't have in a class, because ``ManagedObject`` has them already.
enum ReservedNames {
  /// Its own properties, and those that every object has in the eyes of Swift or of whoever reads the code.
  static let properties: Set<String> = [
    "changedValues", "committedValues", "debugDescription", "description", "entity", "faultingState", "hasChanges",
    "hasPersistentChangedValues", "hash", "hashValue", "isDeleted", "isFault", "isInserted", "isUpdated",
    "keyPathNames", "managedObjectContext", "objectID", "propertyNames", "propertyTypes", "self", "validatesValues",
  ]

  /// What to do about a property of that name; nil when it may have it.
  static func advice(on name: String, of entity: String) -> String? {
    if !SwiftText.isName(name) {
      return "\(entity).\(name) isn't a name in Swift and gets no accessor: rename it, or use value(forKey:)"
    }
    guard properties.contains(name) else { return nil }
    return "\(entity).\(name) has the name of a member of ManagedObject and gets no accessor: rename it (its renaming "
      + "identifier keeps stores readable), or use value(forKey: \"\(name)\") and setValue(_:forKey:)"
  }
}
