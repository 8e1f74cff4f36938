import ManagedObjects

/// How a store in SQLite writes.
public struct SQLiteStoreOptions: Sendable, Hashable {
  /// When a committed save is safe from a loss of power.
  public enum Durability: Sendable, Hashable {
    /// As soon as the save returns: SQLite's `synchronous=FULL`.
    case everySave
    /// After the next checkpoint of the write-ahead log; a loss of power may take back the latest saves, each whole.
    /// SQLite's `synchronous=NORMAL`. A crash of the program takes back none.
    case atCheckpoint
  }

  /// When a save is safe from a loss of power.
  public var durability: Durability
  /// Bytes a page, for a new file: a power of two from 512 to 65,536.
  public var pageSize: Int
  /// Memory for pages of the connection that writes, in bytes.
  public var writerCache: Int
  /// Memory for pages of each connection that reads, in bytes.
  public var readerCache: Int
  /// Connections that may read at the same time.
  public var readers: Int
  /// The size of the write-ahead log, in bytes, from which it is copied into the file, beside the saves that come
  /// meanwhile. It grows to four times that at most, unless somebody still reads what it held before, or one save is larger.
  public var checkpointSize: Int

  /// Whether every transaction is noted in the file's history, which ``PersistentHistoryChangeRequest`` reads. Core
  /// Data's `NSPersistentHistoryTrackingKey`.
  public var persistentHistoryTracking: Bool
  /// Whether commits of other processes and coordinators are told by
  /// ``PersistentStoreCoordinator/remoteChangeNotification``. Core Data's
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
  public var remoteChangeNotifications: Bool

  /// Options; what isn't given suits a store that is loaded in batches and read meanwhile.
  public init(
    durability: Durability = .atCheckpoint, pageSize: Int = 16384, writerCache: Int = 16 << 20,
    readerCache: Int = 2 << 20, readers: Int = 4, checkpointSize: Int = 16 << 20,
    persistentHistoryTracking: Bool = false, remoteChangeNotifications: Bool = false
  ) {
    self.durability = durability
    self.pageSize = pageSize
    self.writerCache = writerCache
    self.readerCache = readerCache
    self.readers = readers
    self.checkpointSize = checkpointSize
    self.persistentHistoryTracking = persistentHistoryTracking
    self.remoteChangeNotifications = remoteChangeNotifications
  }
}
