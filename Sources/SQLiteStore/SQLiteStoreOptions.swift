import ManagedObjects
public import SQLSchema

/// Options of a store in an SQLite file.
public struct SQLiteStoreOptions: Sendable, Hashable {
  /// When a committed save is safe from a loss of power.
  public enum Durability: Sendable, Hashable {
    /// As soon as the save returns: SQLite's `synchronous=FULL`.
    case everySave
    /// After the next checkpoint of the write-ahead log. A loss of power may lose the latest saves, each as a whole; a crash
    /// of the program loses none. SQLite's `synchronous=NORMAL`.
    case atCheckpoint
  }

  /// When a save is safe from a loss of power.
  public var durability: Durability
  /// Bytes per page of a new file: a power of two from 512 to 65,536.
  public var pageSize: Int
  /// The page cache of the writing connection, in bytes.
  public var writerCache: Int
  /// The page cache of each reading connection, in bytes.
  public var readerCache: Int
  /// The greatest number of connections that read at the same time.
  public var readers: Int
  /// The size of the write-ahead log, in bytes, at which a checkpoint starts, beside later saves. The log grows to at most four
  /// times that size, unless a reader still needs an old state or one save is larger.
  public var checkpointSize: Int

  /// Whether a new file is one whose free pages can be returned a few at a time: SQLite's `auto_vacuum=INCREMENTAL`. It costs
  /// every write a little.
  public var incrementalVacuum: Bool
  /// Whether every transaction is recorded in the file's history, which ``PersistentHistoryChangeRequest`` reads. Core Data's
  /// `NSPersistentHistoryTrackingKey`.
  public var persistentHistoryTracking: Bool
  /// Whether commits, the store's own and those of other processes and coordinators, post
  /// ``PersistentStoreCoordinator/remoteChangeNotification``. Core Data's
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
  public var remoteChangeNotifications: Bool

  /// How much of the store's SQL is logged, with times; by default what the process was started with:
  /// ``SQLLogLevel/ofProcess``. ``ManagedObjects/PersistentStoreDescription/sqlLogger`` receives it.
  public var sqlLog: SQLLogLevel

  /// Options. The defaults suit a store that is read while it is loaded in batches.
  public init(
    durability: Durability = .atCheckpoint, pageSize: Int = 16384, writerCache: Int = 16 << 20,
    readerCache: Int = 2 << 20, readers: Int = 4, checkpointSize: Int = 16 << 20, incrementalVacuum: Bool = false,
    persistentHistoryTracking: Bool = false, remoteChangeNotifications: Bool = false,
    sqlLog: SQLLogLevel = .ofProcess
  ) {
    self.durability = durability
    self.pageSize = pageSize
    self.writerCache = writerCache
    self.readerCache = readerCache
    self.readers = readers
    self.checkpointSize = checkpointSize
    self.incrementalVacuum = incrementalVacuum
    self.persistentHistoryTracking = persistentHistoryTracking
    self.remoteChangeNotifications = remoteChangeNotifications
    self.sqlLog = sqlLog
  }
}
