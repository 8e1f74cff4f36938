public import Foundation
public import ManagedObjects

extension MagicalRecord {
  /// Sets up a stack in memory, gone when it is cleaned up.
  /// Source: `setupCoreDataStackWithInMemoryStore`.
  @discardableResult
  public static func setupStackWithInMemoryStore(
    model: ManagedObjectModel, nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try set(MagicalStack.inMemory(model: model, nesting: nesting))
  }

  /// Sets up a stack over an SQLite file of this version of the model. See ``MagicalStack/sqlite(model:at:nesting:options:)``.
  /// Source: `setupCoreDataStackWithStoreAtURL:`.
  @discardableResult
  public static func setupSQLiteStack(
    model: ManagedObjectModel, storeAt url: URL, nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try set(MagicalStack.sqlite(model: model, at: url, nesting: nesting))
  }

  /// Sets up a stack over the store of a name. See ``MagicalStack/url(forStoreNamed:)``; its folder is made if missing.
  /// Source: `setupCoreDataStackWithStoreNamed:`.
  @discardableResult
  public static func setupSQLiteStack(
    model: ManagedObjectModel, storeNamed name: String = MagicalStack.defaultStoreName,
    nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try setupSQLiteStack(model: model, storeAt: preparedURL(name), nesting: nesting)
  }

  /// Sets up a stack over an SQLite file that is migrated if need be. See
  /// ``MagicalStack/autoMigrating(model:at:nesting:options:)``.
  /// Source: `setupCoreDataStackWithAutoMigratingSqliteStoreAtURL:`, `setupAutoMigratingStackWithSqliteStoreAtURL:`.
  @discardableResult
  public static func setupAutoMigratingStack(
    model: ManagedObjectModel, storeAt url: URL, nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try set(MagicalStack.autoMigrating(model: model, at: url, nesting: nesting))
  }

  /// Sets up a stack over the store of a name, which is migrated if need be. See ``MagicalStack/url(forStoreNamed:)``; its
  /// folder is made if missing.
  /// Source: `setupAutoMigratingCoreDataStack`, `setupCoreDataStackWithAutoMigratingSqliteStoreNamed:`.
  @discardableResult
  public static func setupAutoMigratingStack(
    model: ManagedObjectModel, storeNamed name: String = MagicalStack.defaultStoreName,
    nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    try setupAutoMigratingStack(model: model, storeAt: preparedURL(name), nesting: nesting)
  }

  private static func set(_ stack: MagicalStack) -> MagicalStack {
    setUp(stack)
    return stack
  }

  private static func preparedURL(_ name: String) throws -> URL {
    let url = MagicalStack.url(forStoreNamed: name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    return url
  }
}
