package import CoreDataStores
package import Foundation
import ManagedObjects

extension CoreDataTemplate {
  /// Reads a template: a store that an app wrote, or the `.momd` from an app's bundle. A store is read with its write-ahead log,
  /// and nothing is written.
  /// - Throws: ``ReaderError``, ``ModelError``, ``CoreDataFileError``, or ``MappingError`` for a file that can't be opened.
  package init(contentsOf url: URL) throws {
    guard try CoreDataStoreModel.isDatabase(url) else {
      try self.init(compiledModel: url)
      return
    }
    let source = try ImportSource(url.resolvingSymlinksInPath())
    self = try withExtendedLifetime(source) {
      let store = try CoreDataStore(descriptor: source.descriptor, log: source.log?.descriptor)
      // Bytes 16 and 17 of the header; 1 stands for 65536.
      let header = try PlainSource(descriptor: source.descriptor).readSample(18)
      let size = Int(header[16]) << 8 | Int(header[17])
      return try CoreDataTemplate(store.connection, pageSize: size == 1 ? 65_536 : size)
    }
  }
}
