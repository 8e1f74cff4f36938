public import SQLSchema

/// Options of a store in a PostgreSQL database.
public struct PostgresStoreOptions: Sendable, Hashable {
  /// When a committed save is safe from a loss of the server's power.
  public enum Durability: Sendable, Hashable {
    /// As soon as the save returns: PostgreSQL's `synchronous_commit` as the server has it.
    case everySave
    /// A moment later: `synchronous_commit = off`. A crash of the server may lose the latest saves, each as a whole; a crash of
    /// the program loses none.
    case soon
  }

  /// When a save is safe from a loss of power.
  public var durability: Durability
  /// The greatest number of connections that read at the same time.
  public var readers: Int
  /// The greatest number of query generations that are read at the same time, each on a connection of its own.
  public var generations: Int
  /// The password, where the server needs one and the connection string names no file with it.
  public var password: String?
  /// Another way to the same database, past a pooler such as PgBouncer: for what needs a session of the server's own, which is
  /// listening to other processes, and copying the store by `pg_dump`. As libpq takes it; nil if the first way is direct.
  public var direct: String?
  /// Whether every transaction is recorded in the store's history, which ``PersistentHistoryChangeRequest`` reads. Core Data's
  /// `NSPersistentHistoryTrackingKey`.
  public var persistentHistoryTracking: Bool
  /// Whether commits, the store's own and those of other processes, post
  /// ``PersistentStoreCoordinator/remoteChangeNotification``. Processes hear of each other by PostgreSQL's `LISTEN`, on a
  /// connection of its own.
  public var remoteChangeNotifications: Bool
  /// Whether each commit is announced to those who listen.
  package var announcesCommits = true

  /// How much of the store's SQL is logged, with times and what is selected in memory; by default what the process was started
  /// with: `SQLLogLevel.ofProcess`.
  public var sqlLog: SQLLogLevel

  /// Options. The defaults suit a store that is read while it is loaded in batches.
  public init(
    durability: Durability = .everySave, readers: Int = 4, generations: Int = 8, password: String? = nil,
    direct: String? = nil, persistentHistoryTracking: Bool = false, remoteChangeNotifications: Bool = false,
    sqlLog: SQLLogLevel = .ofProcess
  ) {
    self.durability = durability
    self.readers = readers
    self.generations = generations
    self.password = password
    self.direct = direct
    self.persistentHistoryTracking = persistentHistoryTracking
    self.remoteChangeNotifications = remoteChangeNotifications
    self.sqlLog = sqlLog
  }
}
