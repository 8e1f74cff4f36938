import CoreDataStores
import Foundation
import GRDB
package import ManagedObjects

extension InPlaceStore: MetadataKeeping {
  /// The hashes are Core Data's, which aren't those of this library's models.
  package func metadata() throws -> PersistentStoreMetadata {
    try tables.translating {
      try writer.read { db in
        let list = try CoreDataMetadata(CoreDataFile(db)).entries()
        var userInfo: [String: Value] = [:]
        for (key, value) in list where !Self.isReserved(key) { userInfo[key] = Self.value(value) }
        return PersistentStoreMetadata(
          storeType: PersistentStore.StoreType.coreData.rawValue, storeIdentifier: identifier,
          modelVersionHashes: list[CoreDataMetadata.Key.hashes] as? [String: Data] ?? [:],
          modelVersionIdentifiers: Set(list[Self.identifiersKey] as? [String] ?? []), userInfo: userInfo)
      }
    }
  }

  /// Keys whose values have no type here stay as they are.
  package func setUserInfo(_ userInfo: [String: Value]) throws {
    try tables.translating {
      try writer.write { db in
        var list = try CoreDataMetadata(CoreDataFile(db)).entries().filter {
          Self.isReserved($0.key) || Self.value($0.value) == nil
        }
        for (key, value) in userInfo {
          guard !Self.isReserved(key), let entry = Self.entry(value) else {
            throw MigrationError.unstorableMetadata(key: key)
          }
          list[key] = entry
        }
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        try db.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [data])
      }
    }
  }

  private static let identifiersKey = "NSStoreModelVersionIdentifiers"

  /// Whether a key is Core Data's own.
  private static func isReserved(_ key: String) -> Bool { key.hasPrefix("NS") || key.hasPrefix("_NS") }

  private static func value(_ entry: Any) -> Value? {
    switch entry {
    case let text as String: .string(text)
    case let data as Data: .data(data)
    case let date as Date: .date(date)
    case let flag as Bool where type(of: entry) == Bool.self: .bool(flag)
    case let number as Int64: .int(number)
    case let number as Int: .int(Int64(number))
    case let number as Double: .double(number)
    default: nil
    }
  }

  private static func entry(_ value: Value) -> Any? {
    switch value {
    case .string(let text): text
    case .data(let data): data
    case .date(let date): date
    case .bool(let flag): flag
    case .int(let number): number
    case .double(let number): number
    default: nil
    }
  }
}
