import Synchronization

// Which property stands behind a key path of a typed class. Accessors are plain Swift, so that a key path doesn't tell its
// property's name: it is evaluated once on an object of no context, whose slots say who asks for them.

/// What an object that stands for none notes while a key path is evaluated on it.
final class KeyPathProbe {
  /// The properties asked for, in turn. Shared by the objects that relationships lead to.
  final class Record {
    var touched: [[String]] = []
  }

  let record: Record
  /// The names that lead to this object.
  let path: [String]
  private let names: [String]

  init(_ names: [String], path: [String] = [], record: Record = Record()) {
    self.names = names
    self.path = path
    self.record = record
  }

  func note(_ slot: Int) {
    guard names.indices.contains(slot) else { return }
    let full = path + [names[slot]]
    if record.touched.last != full { record.touched.append(full) }
  }

  /// An object of a class with no context, for the key path to go on with; nil when its class doesn't name its slots.
  static func object<T: ManagedObject>(
    _ type: T.Type, path: [String] = [], record: Record = Record()
  ) -> (T, ContextHome)? {
    guard let names = ClassLayouts.names(of: type) ?? type.propertyNames else { return nil }
    let home = ContextHome(.confinement)
    home.probe = KeyPathProbe(names, path: path, record: record)
    let id = ManagedObjectID(scope: scope, number: 0)
    let values = ContiguousArray(repeating: Value.unresolved, count: names.count + 64)
    return (type.init(ObjectPlace(home: home, id: id, values: values, state: .detached, isFault: true)), home)
  }

  /// The object that the relationship in a slot leads to.
  func object<T: ManagedObject>(_ slot: Int) -> T? {
    guard names.indices.contains(slot) else { return nil }
    return Self.object(T.self, path: path + [names[slot]], record: record)?.0
  }

  private static let scope = IDScope(entity: EntityDescription(EntityDefinition("probe")), storeIdentifier: "")
}

/// The names of the properties behind key paths that have been asked for.
enum KeyPathNames {
  // Sendable: key paths are immutable, and these are compared only.
  private struct Key: Hashable, @unchecked Sendable {
    let path: AnyKeyPath
  }

  private static let known = Mutex<[Key: [String]]>([:])

  /// The names that a key path of a managed object's class follows.
  /// - Throws: ``TypedPredicateError/noProperty(_:)``.
  static func names(of path: AnyKeyPath) throws(TypedPredicateError) -> [String] {
    let key = Key(path: path)
    if let names = known.withLock({ $0[key] }) { return names }
    guard let type = Swift.type(of: path).rootType as? ManagedObject.Type, let names = probed(path, type) else {
      throw .noProperty("\(path)")
    }
    known.withLock { $0[key] = names }
    return names
  }

  /// Forgets what was found out by slots that have other names now.
  static func forget() { known.withLock { $0 = [:] } }

  private static func probed<T: ManagedObject>(_ path: AnyKeyPath, _ type: T.Type) -> [String]? {
    if let name = type.keyPathNames[path] { return name.split(separator: ".").map(String.init) }
    guard let (object, home) = KeyPathProbe.object(type), let probe = home.probe else { return nil }
    _ = withExtendedLifetime(home) { object[keyPath: path] }
    // Each property must lead on from the one before; what reads several side by side is no property.
    let touched = probe.record.touched
    for (former, next) in zip(touched, touched.dropFirst()) where next.dropLast() != former[...] { return nil }
    // An object's own ID is no slot.
    let value = Swift.type(of: path).valueType
    if value == ManagedObjectID.self || value == ManagedObjectID?.self { return (touched.last ?? []) + ["objectID"] }
    return touched.last
  }
}
