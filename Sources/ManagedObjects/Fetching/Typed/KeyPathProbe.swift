import Synchronization

// Finds the property of a key path of a typed class. Accessors are plain Swift and a key path doesn't know its property's
// name, so the key path is evaluated once on an object without a context that records which slots are read.

/// Records the slots that a key path reads from a placeholder object.
final class KeyPathProbe {
  /// The properties read, in order. Shared by the placeholders that relationships return.
  final class Record {
    var touched: [[String]] = []
  }

  let record: Record
  /// The path to this placeholder.
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

  /// A placeholder without a context; nil if its class doesn't name its slots.
  static func object<T: ManagedObject>(
    _ type: T.Type, path: [String] = [], record: Record = Record()
  ) -> (T, QueueConfinement)? {
    guard let names = ClassLayouts.names(of: type) ?? type.propertyNames else { return nil }
    let confinement = QueueConfinement(.confinement)
    confinement.probe = KeyPathProbe(names, path: path, record: record)
    let id = ManagedObjectID(scope: scope, number: 0)
    let values = ContiguousArray(repeating: Value.unresolved, count: names.count + 64)
    return (
      type.init(
        ObjectPlace(confinement: confinement, id: id, content: RowValues(values), state: .detached, isFault: true)),
      confinement
    )
  }

  /// The placeholder for the object of a relationship.
  func object<T: ManagedObject>(_ slot: Int) -> T? {
    guard names.indices.contains(slot) else { return nil }
    return Self.object(T.self, path: path + [names[slot]], record: record)?.0
  }

  private static let scope = IDScope.of(.ofColumns("probe"), in: "")
}

/// A cache of the property names of key paths.
package enum KeyPathNames {
  // Sendable: key paths are immutable, and these are only compared.
  private struct Key: Hashable, @unchecked Sendable {
    let path: AnyKeyPath
  }

  private static let known = Mutex<[Key: [String]]>([:])

  /// The property names along a key path of a managed object class.
  /// - Throws: ``TypedPredicateError/noProperty(_:)``.
  package static func names(of path: AnyKeyPath) throws(TypedPredicateError) -> [String] {
    let key = Key(path: path)
    if let names = known.withLock({ $0[key] }) { return names }
    guard let type = Swift.type(of: path).rootType as? ManagedObject.Type, let names = probed(path, type) else {
      throw .noProperty("\(path)")
    }
    known.withLock { $0[key] = names }
    return names
  }

  /// Clears the cache after slots were renamed.
  static func forget() { known.withLock { $0 = [:] } }

  private static func probed<T: ManagedObject>(_ path: AnyKeyPath, _ type: T.Type) -> [String]? {
    if let name = type.keyPathNames[path] { return name.split(separator: ".").map(String.init) }
    guard let (object, confinement) = KeyPathProbe.object(type), let probe = confinement.probe else { return nil }
    _ = withExtendedLifetime(confinement) { object[keyPath: path] }
    // Each property must continue the path of the one before; a key path that reads several side by side is computed.
    let touched = probe.record.touched
    for (former, next) in zip(touched, touched.dropFirst()) where next.dropLast() != former[...] { return nil }
    // An object's ID has no slot.
    let value = Swift.type(of: path).valueType
    if value == ManagedObjectID.self || value == ManagedObjectID?.self { return (touched.last ?? []) + ["objectID"] }
    return touched.last
  }
}
