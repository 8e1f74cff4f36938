package import Foundation
import GRDB
package import TestSupport

extension CoreDataFiles {
  /// The model that a store keeps of itself, packed as Core Data packs it.
  package static func modelCache(of store: String) throws -> Data {
    let folder = try ScratchDirectory()
    let copy = folder.file("copy.sqlite")
    try data(store).write(to: copy)
    let cache = try DatabaseQueue(path: copy.path).read { db in
      try Data.fetchOne(db, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE")
    }
    guard let cache else { throw CocoaError(.fileReadCorruptFile) }
    return cache
  }
}
