public import Foundation
import Synchronization

/// Identifies an object by its entity, its store and a number. Temporary until the object is first saved.
///
/// An ID is a value of 16 bytes, `Sendable` and cheap to hash. IDs cross from one context to another, objects don't.
/// Source: Core Data's `NSManagedObjectID`.
public struct ManagedObjectID: Sendable, Hashable {
  /// The entity and store that many IDs share.
  ///
  /// Not counted, so copying an ID costs nothing. Scopes are never freed.
  @usableFromInline package unowned(unsafe) let scope: IDScope
  /// The row's number in its table. Temporary IDs are numbered over the whole process, downwards from -1.
  @usableFromInline package let number: Int64

  @inlinable
  package init(scope: IDScope, number: Int64) {
    self.scope = scope
    self.number = number
  }

  /// The entity of the object.
  public var entity: EntityDescription { scope.entity }
  /// Whether the object hasn't been saved yet.
  public var isTemporaryID: Bool { scope.isTemporary }
  /// The identifier of the store that holds the object, nil while the ID is temporary.
  public var storeIdentifier: String? { isTemporaryID ? nil : scope.storeIdentifier }

  /// The ID as a URI: `x-coredata://STORE/Entity/p12`, or `x-coredata:///Entity/t12` while it is temporary.
  public var uriRepresentation: URL {
    let path =
      isTemporaryID
      ? "/\(entity.name)/t\(number.magnitude)" : "\(scope.storeIdentifier)/\(entity.name)/p\(number)"
    // Entity names are identifiers and store identifiers UUIDs, so this is always a URL.
    return URL(string: "x-coredata://\(path)") ?? URL(fileURLWithPath: path)
  }

  /// Whether both identify the same row, by its own entity or a superentity.
  public static func == (a: ManagedObjectID, b: ManagedObjectID) -> Bool {
    guard a.number == b.number else { return false }
    return a.scope === b.scope || a.scope.sharesNumbering(with: b.scope)
  }

  /// Hashes the number, which equal IDs have in common.
  public func hash(into hasher: inout Hasher) { hasher.combine(number) }

  /// The hash that sets and dictionaries use. The standard library's hash protects against chosen keys that collide, and takes
  /// most of the time of a look-up. Two rounds of multiplying and folding, seeded with a random number per process, protect
  /// row numbers as well.
  public func _rawHashValue(seed: Int) -> Int {
    var hash = UInt64(bitPattern: number) ^ Self.hashSeed ^ UInt64(bitPattern: Int64(seed))
    hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
    hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
    return Int(truncatingIfNeeded: hash ^ (hash >> 32))
  }

  private static let hashSeed = UInt64.random(in: .min ... .max)
}

extension ManagedObjectID: CustomStringConvertible {
  /// The ID's URI.
  public var description: String { uriRepresentation.absoluteString }
}

/// The entity and the store that IDs share.
///
/// A scope is never freed, like its model, so IDs refer to it without counting. There is one for each entity and store,
/// however often the store is opened, and one for each entity's unsaved objects. An entity from which others inherit has a
/// second one in each store: for IDs that are known to name the object's own entity.
@usableFromInline
package final class IDScope: Sendable {
  package let entity: EntityDescription
  package let storeIdentifier: String
  /// Whether the IDs are those of objects that were never saved.
  package let isTemporary: Bool
  /// Whether the entity is the objects' own. If not, they may be of one that inherits from it: a reference in a row holds a
  /// number only.
  package let isExact: Bool
  /// Distinguishes the IDs of different hierarchies and stores in a hash.
  let seed: UInt64

  private init(entity: EntityDescription, storeIdentifier: String, isExact: Bool) {
    self.isExact = isExact
    self.entity = entity
    self.storeIdentifier = storeIdentifier
    isTemporary = storeIdentifier.isEmpty
    // The low bits are left to the number, and numbers come nearly in sequence.
    seed =
      UInt64(truncatingIfNeeded: entity.rootEntity?.index ?? 0) << 40
      ^ UInt64(truncatingIfNeeded: storeIdentifier.hashValue) << 48
  }

  private struct Key: Hashable {
    let entity: ObjectIdentifier
    let storeIdentifier: String
    let isExact: Bool
  }
  private static let shared = Mutex<[Key: IDScope]>([:])

  /// The scope of an entity's objects in a store; in none, while they are temporary.
  /// - Parameter isExact: whether the entity is the objects' own. That of new objects is, as is one from which none inherits.
  package static func of(_ entity: EntityDescription, in storeIdentifier: String, isExact: Bool = false) -> IDScope {
    let isExact = isExact || storeIdentifier.isEmpty || entity.subentities.isEmpty
    return shared.withLock { shared in
      let key = Key(entity: ObjectIdentifier(entity), storeIdentifier: storeIdentifier, isExact: isExact)
      if let known = shared[key] { return known }
      let scope = IDScope(entity: entity, storeIdentifier: storeIdentifier, isExact: isExact)
      shared[key] = scope
      return scope
    }
  }

  /// Entities of one hierarchy in one store number their objects together, so an ID with the superentity equals the one with
  /// the object's own entity.
  func sharesNumbering(with other: IDScope) -> Bool {
    entity.rootEntity === other.entity.rootEntity && storeIdentifier == other.storeIdentifier
  }
}
