package import CoreDataStores
package import Foundation

/// The files of large values beside a Core Data store that is being written. Belongs to one thread at a time.
///
/// They are written where they belong, under names that no store refers to yet, and the store appears after them. Files that a
/// replaced store, or a killed export of that name, has left are removed once the new store is there.
package final class CoreDataFiles {
  private let folder: ExternalFolder
  private let file: AtomicFile
  private let former: [String]
  private var written: [String] = []
  private var isCommitted = false

  package init(of file: AtomicFile) throws(ExternalDataError) {
    self.file = file
    folder = ExternalFolder(ofCoreDataStoreAt: URL(fileURLWithPath: file.path))
    former = try folder.names()
  }

  deinit {
    if isCommitted { return }
    // What stays is removed by the next export of this name.
    for name in written { _ = Result { try folder.remove(name) } }
  }

  /// Writes a value, and returns the name of its file.
  package func write(_ data: Data) throws(ExternalDataError) -> String {
    if written.isEmpty { try folder.make(like: file.hiddenPath) }
    let name = ExternalFolder.newName()
    written.append(name)
    try folder.write(data, to: name, like: file.hiddenPath)
    return name
  }

  /// Commits the store, and then removes what it doesn't refer to.
  package func commit() throws {
    if !written.isEmpty { try folder.synchronize() }
    try file.commit()
    isCommitted = true
    for name in former { try folder.remove(name) }
  }
}
