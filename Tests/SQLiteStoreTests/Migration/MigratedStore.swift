import Foundation
import GRDB
import ManagedObjects
import PostgreSQL
import PostgresStore
import SQLiteStore
import TestSupport
import Testing

/// A store that is opened with one version of a model after the other.
final class MigratedStore {
  enum Kind {
    case sqlite, postgres

    /// Those that this machine has.
    static var installed: [Kind] { PostgresCluster.programs == nil ? [.sqlite] : [.sqlite, .postgres] }
  }

  /// The kind of stores that are made; ``OnEveryStore`` sets it.
  @TaskLocal static var kind = Kind.sqlite

  let directory: ScratchDirectory
  /// The file of one in SQLite.
  let file: URL
  let isPostgres: Bool
  private let schema = PostgresCluster.newSchema()
  /// Objects live no longer than their context.
  private var contexts: [ManagedObjectContext] = []

  init() throws {
    directory = try ScratchDirectory()
    file = directory.file("store.sqlite")
    isPostgres = Self.kind == .postgres
  }

  /// The store's name in errors.
  var name: String { isPostgres ? "postgres schema \(schema)" : file.path }

  func description(tracksHistory: Bool = false) throws -> PersistentStoreDescription {
    guard isPostgres else {
      return .sqlite(at: file, options: SQLiteStoreOptions(persistentHistoryTracking: tracksHistory))
    }
    return .postgres(
      try PostgresCluster.shared().address(), schema: schema,
      options: PostgresStoreOptions(persistentHistoryTracking: tracksHistory))
  }

  /// Opens the file with a model, lets `body` work on it, saves and closes it.
  @discardableResult
  func open<T>(
    _ model: ManagedObjectModel, _ change: (inout PersistentStoreDescription) -> Void = { _ in },
    _ body: (ManagedObjectContext) throws -> T
  ) throws -> T {
    let coordinator = PersistentStoreCoordinator(model: model)
    var description = try description()
    change(&description)
    try coordinator.addPersistentStore(description)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    contexts.append(context)
    let result = try body(context)
    try context.save()
    try coordinator.close()
    return result
  }

  @discardableResult
  func open<T>(
    _ entities: [EntityDefinition], _ change: (inout PersistentStoreDescription) -> Void = { _ in },
    _ body: (ManagedObjectContext) throws -> T
  ) throws -> T {
    try open(ManagedObjectModel(entities: entities), change, body)
  }

  /// Opens the file with a model and leaves it as it is then.
  func migrate(_ entities: [EntityDefinition]) throws { try open(entities) { _ in } }

  /// The first column of a query's rows, as text.
  func column(_ sql: String) throws -> [String] {
    if isPostgres { return try postgres(sql) }
    return try DatabaseQueue(path: file.path).read { db in
      try DatabaseValue.fetchAll(db, sql: sql).map { $0.storage.value.map { "\($0)" } ?? "NULL" }
    }
  }

  private func postgres(_ sql: String) throws -> [String] {
    let connection = try PostgresAccess(PostgresCluster.shared().direct(), schema: schema).connect()
    try connection.beginText(sql, nil)
    var found: [String] = []
    while let row = try connection.nextRow() { found.append(row.text(0) ?? "NULL") }
    return found
  }

  /// Runs a statement, as another program would.
  func run(_ sql: String) throws {
    guard isPostgres else { return try DatabaseQueue(path: file.path).write { try $0.execute(sql: sql) } }
    try PostgresAccess(PostgresCluster.shared().direct(), schema: schema).connect().run(sql)
  }

  /// A table's columns.
  func columns(of table: String) throws -> [String] {
    try column(
      isPostgres
        ? "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() "
          + "AND table_name = '\(table)' ORDER BY ordinal_position"
        : "SELECT name FROM pragma_table_info('\(table)')")
  }

  /// The names of tables and indexes.
  func relations() throws -> [String] {
    try column(
      isPostgres
        ? "SELECT relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = current_schema()"
        : "SELECT name FROM sqlite_master")
  }

  /// Where the rows of each table are, which changes when it is written again.
  func places() throws -> [String] {
    try column(
      isPostgres
        ? "SELECT relname || relfilenode FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace "
          + "WHERE nspname = current_schema() AND relkind = 'r' ORDER BY relname"
        : "SELECT name || rootpage FROM sqlite_master WHERE type = 'table'")
  }

  /// The obstacles that opening the file with a model meets.
  func obstacles(_ entities: [EntityDefinition]) throws -> [MigrationObstacle] {
    do {
      try migrate(entities)
      return []
    } catch MigrationError.cannotInfer(let obstacles) {
      return obstacles
    }
  }
}

/// Runs each test of a suite on a store of every kind.
struct OnEveryStore: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    for kind in MigratedStore.Kind.installed {
      try await MigratedStore.$kind.withValue(kind) { try await function() }
    }
  }
}

extension Trait where Self == OnEveryStore {
  static var onEveryStore: Self { OnEveryStore() }
}

extension ManagedObjectContext {
  /// Every object of an entity, in the order of their numbers.
  func every(_ entity: String) throws -> [ManagedObject] {
    try fetch(FetchRequest<ManagedObject>(entityName: entity)).sorted { $0.objectID.number < $1.objectID.number }
  }

  /// Inserts an object with values.
  @discardableResult
  func add(_ entity: String, _ values: [String: Value] = [:]) throws -> ManagedObject {
    let object = try insert(entity)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  /// One property of every object of an entity, in the order of their numbers.
  func values(_ entity: String, _ key: String) throws -> [Value] {
    try every(entity).compactMap { $0.value(forKey: key) }
  }

  /// Expects these values of one property of every object of an entity, in the order of their numbers.
  func expect(
    _ entity: String, _ key: String, _ expected: [Value], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try values(entity, key)
    #expect(found == expected, sourceLocation: sourceLocation)
  }
}
