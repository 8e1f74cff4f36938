public import Foundation

/// Maintenance of a store while it is used. Optional; see ``IncrementalStore``.
///
/// Every method blocks and may be called on any thread. It reports its progress to a ``MaintenanceWatch``, and stops between
/// steps when that wants it. Crash-safe: a killed process leaves either the old or the new content. All throw
/// ``MaintenanceStopped`` when they were stopped, and ``ManagedObjectError/store(_:)``.
public protocol StoreMaintenance: IncrementalStore {
  /// The space that the store takes.
  func sizes() throws -> StoreSizes

  /// Returns unused space to the file system. Writers wait for it, except between the steps of an incremental compaction.
  /// - Throws: ``MaintenanceError/notIncremental(path:)``.
  func compact(_ plan: CompactionPlan, _ watch: MaintenanceWatch) throws -> CompactionResult
  /// Updates the statistics by which the store chooses how to answer a fetch.
  /// - Parameter rows: how many rows of each index are sampled, about; nil for all.
  /// - Returns: the number of tables that were looked at.
  func updateStatistics(sampling rows: Int?, _ watch: MaintenanceWatch) throws -> Int
  /// Moves what was committed from the store's log to its place in the content.
  /// - Parameter timeout: how long to wait for readers that still need the log, in modes that wait for them.
  func flushLog(_ mode: LogFlushMode, timeout: Duration, _ watch: MaintenanceWatch) throws -> LogFlushResult
  /// Rebuilds indexes, one at a time, and makes missing ones.
  /// - Parameter entities: the entities whose indexes are meant; nil for everything in the store.
  /// - Returns: the number of indexes that were built.
  func rebuildIndexes(_ entities: [EntityDescription]?, _ watch: MaintenanceWatch) throws -> Int

  /// Looks for damage in one state of the store: of its files, of references between rows, and of its metadata. Others can
  /// read and write.
  /// - Parameter found: called with each problem; an error that it throws ends the check.
  func checkIntegrity(
    _ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void) throws

  /// What the files that ``copyContent(to:_:)`` makes look like.
  var copyForm: StoreCopyForm { get }
  /// Copies one state of the content into a new file, which can then be opened as a store. Others can read and write;
  /// the log grows with what they write until the copy is complete. The caller makes the copy durable.
  func copyContent(to url: URL, _ watch: MaintenanceWatch) throws
  /// Looks for damage in a file that is a copy of some store of this kind, and that nothing else uses.
  /// - Returns: the copy's metadata.
  /// - Throws: ``ManagedObjectError/incompatibleStore(path:reason:)`` when it is no store of this kind.
  func checkCopy(
    at url: URL, _ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void
  ) throws -> PersistentStoreMetadata
  /// Prepares a copy to become this store's content: migrates it to this store's model if it is of another version, and gives
  /// it this store's identifier, and numbers for new objects that this store hasn't given yet. Changes the file.
  /// - Parameters:
  ///   - model: the model of this store's coordinator.
  ///   - mark: the answer of ``contentMark()`` once this is the content.
  /// - Throws: ``MigrationError`` when it can't be migrated or mustn't be.
  func prepareCopy(
    at url: URL, model: ManagedObjectModel, entities: [EntityDescription], migration: MigrationOptions, mark: String,
    _ watch: MaintenanceWatch
  ) throws
  /// Replaces the content by a prepared copy, in one transaction. Readers of an older state continue with it. Called by the
  /// coordinator, which informs its contexts.
  func replaceContent(with url: URL, _ watch: MaintenanceWatch) throws
  /// The mark of the copy that the content was replaced by last; nil if it never was.
  func contentMark() throws -> String?
}

/// Maintenance of a store that keeps pairs of many-to-many relationships in tables of their own. A pair dangles when one of
/// its objects doesn't exist. Optional; see ``IncrementalStore``.
public protocol PairMaintenance: IncrementalStore {
  /// The number of dangling pairs of each many-to-many relationship that has some.
  func danglingPairs() throws -> [(relationship: RelationshipDescription, count: Int)]
  /// Removes them, in one transaction.
  /// - Returns: the number of removed pairs of each relationship.
  func removeDanglingPairs() throws -> [(relationship: RelationshipDescription, count: Int)]
}

/// What the copies of a store's content look like as files: enough to name one and to tell it from other files.
public struct StoreCopyForm: Sendable, Hashable {
  /// What such a file is, with its article, for messages.
  public let title: String
  /// The ending of its name, with the dot.
  public let nameEnding: String
  /// The bytes that it begins with.
  public let firstBytes: [UInt8]

  /// A form of files.
  public init(title: String, nameEnding: String, firstBytes: [UInt8]) {
    self.title = title
    self.nameEnding = nameEnding
    self.firstBytes = firstBytes
  }
}

/// The space that a store takes, in bytes.
public struct StoreSizes: Sendable, Hashable {
  /// The content's.
  public var content: Int64
  /// The log's, of what was committed and isn't in its place in the content yet.
  public var log: Int64

  /// The sizes of a store.
  public init(content: Int64, log: Int64) {
    self.content = content
    self.log = log
  }
}

/// How a store is made smaller.
public enum CompactionPlan: Sendable, Hashable {
  /// Everything is written again, in order. Needs free space for two more copies of the content. `isIncrementalAfterwards`
  /// says whether the store can be compacted incrementally from then on; nil leaves that as it is.
  case whole(isIncrementalAfterwards: Bool? = nil)
  /// Free blocks, in which the store allocates space, are returned: `blocks` in all, nil for every one, and `atOnce` in each
  /// transaction, with a short pause before the next, so that writers who wait get their turn.
  case incremental(blocks: Int? = nil, atOnce: Int)
}

/// The result of a compaction.
public struct CompactionResult: Sendable, Hashable {
  /// Bytes of the content with its free blocks, before.
  public var bytesBefore: Int64
  /// The same afterwards.
  public var bytesAfter: Int64

  /// A result.
  public init(bytesBefore: Int64, bytesAfter: Int64) {
    self.bytesBefore = bytesBefore
    self.bytesAfter = bytesAfter
  }
}

/// How far a flush of the log goes. Raw values are the words of the checkpoint job's option `mode`.
public enum LogFlushMode: String, Sendable, Hashable, Codable, CaseIterable {
  /// As far as possible without waiting.
  case passive
  /// All of the log. Waits for readers of older states.
  case full
  /// As `full`, and until no reader uses the log, so that the next write starts at its beginning.
  case restart
  /// As `restart`, and the log is made empty.
  case truncate
}

/// The result of a flush of the log.
public struct LogFlushResult: Sendable, Hashable {
  /// Whether readers still needed the log, so that less was done than the mode says.
  public var isBusy: Bool
  /// The length of the log, in blocks.
  public var blocksInLog: Int
  /// How many of them are in their place in the content.
  public var blocksMoved: Int
  /// Bytes of a block.
  public var blockSize: Int

  /// A result.
  public init(isBusy: Bool, blocksInLog: Int, blocksMoved: Int, blockSize: Int) {
    self.isBusy = isBusy
    self.blocksInLog = blocksInLog
    self.blocksMoved = blocksMoved
    self.blockSize = blockSize
  }
}

/// How thorough a check is.
public enum CheckDepth: String, Sendable, Hashable, Codable, CaseIterable {
  /// Without comparing indexes with their rows.
  case quick
  /// Everything.
  case full
}
