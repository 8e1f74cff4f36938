package import Foundation
package import ManagedObjects

/// The one row of `Z_METADATA`: the store's UUID, and a property list with the version hashes of its model.
///
/// The digest and the checksum are those of the hashes `h` of the entities, in the order of their names `n`:
///
/// - `NSStoreModelVersionHashesDigest` = base64(SHA-512(n₁ h₁ n₂ h₂ …)), since framework 977;
/// - `NSStoreModelVersionChecksumKey` = base64(SHA-256(h₁ h₂ …)), of newer frameworks.
///
/// The hash of an entity itself comes from Apple's compiler or framework, which doesn't say how; it can only be taken over.
package struct CoreDataMetadata: Sendable, Equatable, Codable {
  /// `Z_VERSION`, which is 1.
  package var version: Int64
  /// The store's UUID, as text.
  package var uuid: String
  /// The property list, as it is.
  package var propertyList: Data

  package init(version: Int64 = 1, uuid: String, propertyList: Data) {
    (self.version, self.uuid, self.propertyList) = (version, uuid, propertyList)
  }

  /// The keys of the property list.
  package enum Key {
    package static let hashes = "NSStoreModelVersionHashes"
    package static let digest = "NSStoreModelVersionHashesDigest"
    package static let checksum = "NSStoreModelVersionChecksumKey"
    static let hashesVersion = "NSStoreModelVersionHashesVersion"
    static let identifiers = "NSStoreModelVersionIdentifiers"
    static let storeType = "NSStoreType"
    static let frameworkVersion = "NSPersistenceFrameworkVersion"
    static let autoVacuum = "_NSAutoVacuumLevel"
  }

  /// The newest framework whose stores were measured. A store of a newer one has the same tables.
  private static let framework = 1344

  /// The metadata of a new store.
  /// - Parameter hashes: the version hashes, by the names of the entities.
  /// - Throws: ``CoreDataFileError/noHashes(entity:)`` for an entity of the model without one.
  package init(
    for model: ManagedObjectModel, hashes: [String: Data], uuid: UUID = UUID()
  ) throws {
    for entity in model.entities where hashes[entity.name] == nil {
      throw CoreDataFileError.noHashes(entity: entity.name)
    }
    let own = hashes.filter { model.entitiesByName[$0.key] != nil }
    let list: [String: Any] = [
      Key.hashes: own, Key.digest: Self.digest(of: own), Key.checksum: Self.checksum(of: own), Key.hashesVersion: 3,
      Key.identifiers: [model.versionIdentifier].compactMap { $0 }, Key.storeType: "SQLite",
      Key.frameworkVersion: Self.framework, Key.autoVacuum: "2",
    ]
    self.init(
      uuid: uuid.uuidString,
      propertyList: try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
  }

  /// Reads the row of a store.
  /// - Throws: what the connection throws, and ``CoreDataFileError/badMetadata(reason:)``.
  package init(_ connection: some CoreDataConnection) throws {
    guard let row = try connection.rows("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1").first,
      case .data(let list) = row[2]
    else { throw CoreDataFileError.badMetadata(reason: "Z_METADATA has no row with a property list") }
    self.init(version: row[0].storedInteger, uuid: row[1].plainText, propertyList: list)
  }

  /// The entries of the property list.
  /// - Throws: ``CoreDataFileError/badMetadata(reason:)``.
  package func entries() throws(CoreDataFileError) -> [String: Any] {
    do {
      let list = try PropertyListSerialization.propertyList(from: propertyList, format: nil)
      if let entries = list as? [String: Any] { return entries }
    } catch {
      throw .badMetadata(reason: "it isn't a property list: \(error.localizedDescription)")
    }
    throw .badMetadata(reason: "its property list isn't a dictionary")
  }

  /// The version hashes, by the names of the entities.
  /// - Throws: ``CoreDataFileError/badMetadata(reason:)``.
  package func hashes() throws(CoreDataFileError) -> [String: Data] {
    try entries()[Key.hashes] as? [String: Data] ?? [:]
  }

  /// `NSStoreModelVersionHashesDigest`.
  package static func digest(of hashes: [String: Data]) -> String {
    var bytes = Data()
    for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
      bytes += Data(name.utf8)
      bytes += hash
    }
    return SHA512.hash(bytes).base64EncodedString()
  }

  /// `NSStoreModelVersionChecksumKey`.
  package static func checksum(of hashes: [String: Data]) -> String {
    var hash = SHA256()
    for (_, bytes) in hashes.sorted(by: { $0.key < $1.key }) { bytes.withUnsafeBytes { hash.update($0) } }
    return Data(hash.finish()).base64EncodedString()
  }

  /// The version hashes of a compiled model's current version, from the `VersionInfo.plist` of its `.momd`.
  /// - Parameter url: the `.momd`, or a `.mom` in it.
  /// - Throws: ``ModelError``, or ``CoreDataFileError/badMetadata(reason:)`` for a list without hashes.
  package static func hashes(ofCompiledModel url: URL) throws -> [String: Data] {
    let file = try ManagedObjectModel.compiledFile(of: url)
    let list = file.deletingLastPathComponent().appendingPathComponent("VersionInfo.plist")
    guard FileManager.default.fileExists(atPath: list.path) else {
      throw CoreDataFileError.badMetadata(
        reason:
          "there is no \(list.path), which has the version hashes: give the whole .momd from the app's bundle, or a "
          + "store that the app wrote")
    }
    let entries = try PropertyListSerialization.propertyList(from: Data(contentsOf: list), format: nil)
    let versions = (entries as? [String: Any])?["NSManagedObjectModel_VersionHashes"] as? [String: Any]
    let name = file.deletingPathExtension().lastPathComponent
    guard let hashes = versions?[name] as? [String: Data] else {
      throw CoreDataFileError.badMetadata(reason: "\(list.path) has no version hashes of \(name)")
    }
    return hashes
  }
}
