package import Foundation

/// What a store can do for its own upkeep, while it is used: a store that can adopts it.
///
/// Everything blocks, may be called from any thread, and takes a ``MaintenanceWatch``: it is told how far the work is, and
/// asked between steps whether to go on. A program that is killed in the midst of any of it finds the store as it was
/// before, or as it is to be.
package protocol StoreMaintenance: IncrementalStore {
  /// Gives space that nothing uses any more back to the file system. Nobody else writes meanwhile, unless only so many
  /// pages are freed at a time.
  /// - Throws: ``MaintenanceStopped``, ``MaintenanceError/notIncremental(path:)``, the store's error.
  func vacuum(_ plan: VacuumPlan, _ watch: MaintenanceWatch) throws -> VacuumResult
  /// Counts what helps to find the fastest way to answer a fetch, a table at a time.
  /// - Parameter rows: how many rows of each index are looked at, about; nil for all.
  /// - Returns: how many tables were looked at.
  func optimise(sampling rows: Int?, _ watch: MaintenanceWatch) throws -> Int
  /// Copies what was committed from the write-ahead log to its place in the file.
  /// - Parameter patience: how long to wait for readers that still need the log, where the mode waits for them.
  func checkpoint(_ mode: CheckpointMode, patience: Duration, _ watch: MaintenanceWatch) throws -> CheckpointResult
  /// Makes indexes anew, one at a time, and those that are missing.
  /// - Parameter entities: those whose tables are meant; nil for everything in the file.
  /// - Returns: how many indexes were made.
  func reindex(_ entities: [EntityDescription]?, _ watch: MaintenanceWatch) throws -> Int

  /// Looks for damage in one state of the store: of the file, of references between rows, and of what the store notes
  /// about itself. Others read and write meanwhile.
  /// - Parameter found: called with each problem; what it throws ends the check.
  func check(_ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void) throws

  /// Copies one state of the store's content into a new file, which is then one that can be opened as a store. Others read
  /// and write meanwhile; the log grows with what they write, for the state is kept until the end. Whether the copy survives
  /// a loss of power is the caller's to see to.
  func copyContent(to url: URL, _ watch: MaintenanceWatch) throws
  /// Looks for damage in a file that is a copy of some store of this kind; nobody else uses the file.
  /// - Returns: what the copy says of itself.
  /// - Throws: ``ManagedObjectError/incompatibleStore(path:reason:)`` when it is no store of this kind.
  func checkCopy(
    at url: URL, _ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void
  ) throws -> PersistentStoreMetadata
  /// Makes a copy ready to become this store's content: it is migrated to this store's model, if it is of another version,
  /// and gets this store's identifier and its numbers for new objects, none of which is given twice. The file is changed.
  /// - Parameters:
  ///   - model: the model of this store's coordinator.
  ///   - mark: what ``contentMark()`` answers once this is the content.
  /// - Throws: ``MigrationError`` when it can't be migrated or isn't to be.
  func prepareCopy(
    at url: URL, model: ManagedObjectModel, entities: [EntityDescription], migration: MigrationOptions, mark: String,
    _ watch: MaintenanceWatch
  ) throws
  /// Puts a copy that was made ready in the place of this store's content, in one transaction. Who reads an older state
  /// reads on in it. To be called by the coordinator, which tells its contexts.
  func replaceContent(with url: URL, _ watch: MaintenanceWatch) throws
  /// The mark of the copy that is the content; nil if it never was one.
  func contentMark() throws -> String?
}

/// How a file is made smaller.
package enum VacuumPlan: Sendable, Hashable {
  /// Everything is written anew, in order. Needs free space for two more copies of the content meanwhile.
  /// `isIncrementalAfterwards` says whether pages can be freed a few at a time from then on; nil leaves that as it is.
  case whole(isIncrementalAfterwards: Bool? = nil)
  /// Free pages are given back, so many in all (nil for all that there are) and so many in each transaction.
  case incremental(pages: Int? = nil, atOnce: Int)
}

/// What became of a file.
package struct VacuumResult: Sendable, Hashable {
  /// Bytes of the content with its free pages, before and after.
  package var bytesBefore: Int64
  package var bytesAfter: Int64

  package init(bytesBefore: Int64, bytesAfter: Int64) {
    self.bytesBefore = bytesBefore
    self.bytesAfter = bytesAfter
  }
}

/// How far a checkpoint goes: SQLite's modes.
package enum CheckpointMode: String, Sendable, Hashable, Codable, CaseIterable {
  /// As far as is possible without waiting for anybody.
  case passive
  /// All of the log. Waits for readers of older states.
  case full
  /// As `full`, and until nobody reads from the log any more: what is written next begins at its start.
  case restart
  /// As `restart`, and the log's file is made empty.
  case truncate
}

/// What a checkpoint came to.
package struct CheckpointResult: Sendable, Hashable {
  /// Whether somebody still needed the log, so that less was done than the mode says.
  package var isBusy: Bool
  /// Pages in the log, and how many of them are in their place in the file.
  package var pagesInLog: Int
  package var pagesMoved: Int
  /// Bytes of a page.
  package var pageSize: Int

  package init(isBusy: Bool, pagesInLog: Int, pagesMoved: Int, pageSize: Int) {
    self.isBusy = isBusy
    self.pagesInLog = pagesInLog
    self.pagesMoved = pagesMoved
    self.pageSize = pageSize
  }
}

/// How closely a store is looked at.
package enum CheckDepth: String, Sendable, Hashable, Codable, CaseIterable {
  /// Without comparing indexes with their rows: SQLite's `quick_check`.
  case quick
  /// Everything: SQLite's `integrity_check`.
  case full
}
