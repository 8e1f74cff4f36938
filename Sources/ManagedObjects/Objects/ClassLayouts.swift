import Synchronization

// An extension can't override `propertyNames`, so a class whose accessors were generated into one doesn't say its slots
// itself. The model that it was generated with does, which stays for as long as the program runs.

/// The slots of the classes whose accessors stand in extensions. Safe from any thread.
enum ClassLayouts {
  private static let known = Mutex<[ObjectIdentifier: [String]]>([:])

  /// The names of the properties in a class's slots; nil for a class that says them itself, or whose model hasn't been made.
  static func names(of type: ManagedObject.Type) -> [String]? { known.withLock { $0[ObjectIdentifier(type)] } }

  /// Notes what a model says of the classes of its entities.
  static func note(_ layouts: [String: ClassLayout], _ entities: [EntityDescription]) {
    if layouts.isEmpty { return }
    var hasChanged = false
    known.withLock { known in
      for entity in entities where entity.objectClass != ManagedObject.self {
        guard let names = layouts[entity.name]?.propertyNames else { continue }
        let former = known.updateValue(names, forKey: ObjectIdentifier(entity.objectClass))
        if let former, former != names { hasChanged = true }
      }
    }
    if hasChanged { KeyPathNames.forget() }
  }
}
