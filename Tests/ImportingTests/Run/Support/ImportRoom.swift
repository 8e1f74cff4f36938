import Foundation
import ManagedObjects
import PostgresStore
import SQLiteStore
import TestSupport

@testable import Importing

/// A store to import into.
enum StoreKind: String, CaseIterable, Sendable {
  case memory, sqlite, postgres

  /// All that there are here: PostgreSQL may not be installed.
  static let allCases: [StoreKind] = [.memory, .sqlite] + (PostgresCluster.programs == nil ? [] : [.postgres])
}

/// A store with the model of the tests, a directory for sources and rejects, and ways to import and to look at what came
/// of it.
final class ImportRoom {
  private let directory: ScratchDirectory
  private let kind: StoreKind
  private let model: ManagedObjectModel?
  /// The schema in PostgreSQL.
  private let schema = PostgresCluster.newSchema()
  let plan = FaultyStore.Plan()
  /// A context that a test looks at objects in.
  var looking: ManagedObjectContext?
  private(set) var coordinator: PersistentStoreCoordinator
  /// What the last run reported.
  private(set) var reports: [ImportProgress] = []
  var isSourceKept = false
  /// What a test has to say of an import's options beside the rest.
  var adjust: (inout ImportOptions) -> Void = { _ in }
  /// Where the keys of masks are.
  var credentials = MaskCredentials(folder: nil)
  /// What the next imports resolve.
  var retry: RejectRetry?
  /// Whether an import is to stop within a record.
  var shouldStopWithinRecord: @Sendable () -> Bool = { false }

  /// - Parameter model: with what imports keep beside the data; nil for the model of the tests.
  init(_ kind: StoreKind, model: ManagedObjectModel? = nil) throws {
    self.kind = kind
    self.model = model
    directory = try ScratchDirectory()
    coordinator = try Self.open(kind, model, directory, schema, plan)
  }

  /// Reopens the store, as a restarted daemon does. A store in memory stays.
  func reopen() throws {
    plan.heal()
    if kind != .memory { coordinator = try Self.open(kind, model, directory, schema, plan) }
  }

  private static func open(
    _ kind: StoreKind, _ model: ManagedObjectModel?, _ directory: ScratchDirectory, _ schema: String,
    _ plan: FaultyStore.Plan
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try model ?? StaffModel.model.get())
    let description: PersistentStoreDescription =
      switch kind {
      case .memory: .inMemory()
      case .sqlite: .sqlite(at: directory.file("store.sqlite"))
      case .postgres: .postgres(try PostgresCluster.shared().address(), schema: schema)
      }
    try coordinator.addPersistentStore(
      PersistentStoreDescription { model, entities in FaultyStore(try description.open(model, entities), plan) })
    return coordinator
  }

  func file(_ name: String) -> URL { directory.file(name) }
  var database: URL { directory.file("store.sqlite") }

  // MARK: Importing

  /// Imports a text. A job of the same name continues where it was.
  ///
  /// - Parameters:
  ///   - name: the source's name; its file is written unless it is there with this content.
  ///   - stopAfter: batches after which it is to stop.
  ///   - stopAtAsking: the how manieth question whether to stop is answered by yes.
  ///   - largeLoad: the number of records from which indexes are postponed.
  ///   - rules: what the recipe says of properties, beside what `mapping` says of them.
  ///   - onReport: called after each batch.
  @discardableResult
  func run(
    _ text: String, as name: String = "a.csv", into entity: String = "Person", mode: ImportMode? = nil,
    reader: ReaderOptions = ReaderOptions(), batch: Int = 10_000, limit: Int? = 1000, share: Double? = nil,
    job: String = "1", rejects: URL? = nil, stopAfter: Int = .max, stopAtAsking: Int = .max, largeLoad: Int64 = .max,
    rules: [String: PropertyRule] = [:], mapping: MappingOptions = MappingOptions(),
    onReport: (ImportProgress) -> Void = { _ in }
  ) throws -> ImportEnd {
    let source = file(name)
    defer { isSourceKept = false }
    if !isSourceKept, FileManager.default.contents(atPath: source.path) != Data(text.utf8) {
      try Data(text.utf8).write(to: source)
    }
    reports = []
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "import \(job)")
    var options = ImportOptions(mode: mode, reader: reader, batchSize: batch, rejectLimit: limit)
    options.mapping = mapping
    options.mapping.properties.merge(rules) { $1 }
    // A file of nothing but rejects is a file like any other, unless a test adjusts that.
    options.rejectShare = share ?? 1
    adjust(&options)
    var request = ImportRequest(
      job: job, source: source, name: name, entity: entity, options: options,
      rejects: rejects ?? rejectsFile(job))
    request.shouldStopWithinRecord = shouldStopWithinRecord
    request.credentials = credentials
    request.retry = retry
    request.origin.number = Int64(job) ?? 0
    var asked = 0
    return try Importer(coordinator: coordinator, request: request, largeLoad: largeLoad).run(
      in: context,
      shouldStop: {
        asked += 1
        // The first report is before the first batch.
        return asked >= stopAtAsking || reports.count > stopAfter
      },
      report: { progress in
        reports.append(progress)
        onReport(progress)
      })
  }

  /// Imports a file of the room as it is.
  @discardableResult
  func run(file name: String) throws -> ImportEnd {
    isSourceKept = true
    return try run("", as: name)
  }

  /// The error that an import ends with; nil when it doesn't.
  func failure(
    _ text: String, as name: String = "a.csv", into entity: String = "Person", mode: ImportMode? = nil,
    batch: Int = 10_000, limit: Int? = 1000, job: String = "1", rules: [String: PropertyRule] = [:],
    mapping: MappingOptions = MappingOptions()
  ) throws -> (any Error)? {
    do {
      try run(
        text, as: name, into: entity, mode: mode, batch: batch, limit: limit, job: job, rules: rules, mapping: mapping)
      return nil
    } catch {
      return error
    }
  }

  func rejectsFile(_ job: String = "1") -> URL { directory.file("\(job).rejects") }

  /// The reject file's text; nil when there is none.
  func rejects(_ job: String = "1") -> String? {
    FileManager.default.contents(atPath: rejectsFile(job).path).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The lines of the reject file as fields, without its header: line, column, code, and what follows the message.
  func refusals(_ job: String = "1") -> [String] {
    (rejects(job) ?? "").split(separator: "\n").dropFirst().map { line in
      let fields = line.split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false)
      return fields.prefix(3).joined(separator: ",")
    }
  }

  /// Has another context make these changes just before the next write to the store.
  func intrude(_ changes: @escaping @Sendable (ManagedObjectContext) throws -> Void) {
    let coordinator = coordinator
    plan.intrude {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "another writer")
      try changes(context)
      try context.save()
    }
  }

  // MARK: Looking

  func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator, name: "test") }

  /// Every object of an entity as a line: its properties at these paths (`boss.code`), sorted.
  func rows(_ paths: String..., of entity: String = "Person") throws -> [String] { try rows(paths, of: entity) }

  func rows(_ paths: [String], of entity: String) throws -> [String] {
    let context = context()
    return try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map { object in
      paths.map { path in
        var value: Value? = .object(object.objectID)
        for key in path.split(separator: ".") {
          guard case .object(let id)? = value else { return "" }
          value = context.object(with: id).value(forKey: String(key))
        }
        return value?.plainText ?? "?"
      }.joined(separator: "|")
    }.sorted()
  }

  func count(of entity: String) throws -> Int {
    try context().count(for: FetchRequest<ManagedObject>(entityName: entity))
  }

  /// Inserts countries, and people of these codes named as their codes.
  func furnish(countries: [String] = [], people: [String] = []) throws {
    let context = context()
    for code in countries {
      try context.insert("Country").setValue(.string(code), forKey: "code")
    }
    for code in people {
      let person = try context.insert("Person")
      try person.setValue(.string(code), forKey: "code")
      try person.setValue(.string(code), forKey: "name")
    }
    try context.save()
  }
}

extension ImportEnd {
  /// The counts, also of an import that was stopped.
  var counts: ImportCounts { progress.counts }

  var isFinished: Bool {
    if case .finished = self { return true }
    return false
  }

  /// The counts as a line: inserted, updated, unchanged, rejected, unresolved.
  var tally: String {
    "\(counts.inserted)i \(counts.updated)u \(counts.unchanged)= \(counts.rejected)r \(counts.unresolved)?"
  }
}

extension ImportMode {
  /// Those in which a record without an object makes one.
  static let inserting: [Self] = [.insert, .upsert, .replace, .synchronise]
}
