public import Foundation
public import ManagedObjects

extension MagicalStack {
  /// A stack over an SQLite file that was made with this version of the model, or is made now.
  ///
  /// A file of another version is refused as it is: ``autoMigrating(model:at:nesting:options:)`` migrates it.
  /// Source: `setupCoreDataStackWithStoreAtURL:` of MagicalRecord.
  /// - Throws: `MigrationError` for a file of another version; what the store's opening throws.
  public static func sqlite(
    model: ManagedObjectModel, at url: URL, nesting: Nesting = .savingContext, options: SQLiteStoreOptions = .init()
  ) throws -> MagicalStack {
    var store = PersistentStoreDescription.sqlite(at: url, options: options)
    store.shouldMigrateStoreAutomatically = false
    return try MagicalStack(model: model, store: store, nesting: nesting)
  }

  /// A stack over an SQLite file, which is migrated when it was made with another version of the model.
  ///
  /// The migration is inferred, in one transaction with the old file kept until it has succeeded.
  /// Source: `setupCoreDataStackWithAutoMigratingSqliteStoreAtURL:` of MagicalRecord.
  /// - Throws: `MigrationError` with every obstacle when the migration can't be inferred; what the store's opening throws.
  public static func autoMigrating(
    model: ManagedObjectModel, at url: URL, nesting: Nesting = .savingContext, options: SQLiteStoreOptions = .init()
  ) throws -> MagicalStack {
    var store = PersistentStoreDescription.sqlite(at: url, options: options)
    store.shouldMigrateStoreAutomatically = true
    store.shouldInferMappingModelAutomatically = true
    return try MagicalStack(model: model, store: store, nesting: nesting)
  }

  /// Where the store of a name is: the name itself where it is an absolute path; otherwise in the folder of the program's
  /// name under the user's folder for programs' data (`$XDG_DATA_HOME`, or `~/.local/share`). A name without an extension
  /// gets `.sqlite`.
  ///
  /// Source: `MR_urlForStoreName:` of MagicalRecord, which looks in the application support folder.
  public static func url(forStoreNamed name: String) -> URL {
    let named = (name as NSString).pathExtension.isEmpty ? name + ".sqlite" : name
    if named.hasPrefix("/") { return URL(fileURLWithPath: named) }
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    let folder = folders.first ?? FileManager.default.homeDirectoryForCurrentUser
    return folder.appendingPathComponent(programName).appendingPathComponent(named)
  }

  /// The name of a store that isn't named: the program's. Source: `defaultStoreName` of MagicalRecord.
  public static var defaultStoreName: String { programName + ".sqlite" }

  private static var programName: String {
    let name = ProcessInfo.processInfo.processName
    return name.isEmpty ? "MagicalRecord" : name
  }
}
