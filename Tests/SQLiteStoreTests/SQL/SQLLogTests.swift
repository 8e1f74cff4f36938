import Foundation
import Logging
import ManagedObjects
import SQLSchema
import SQLiteStore
import TestSupport
import Testing

/// Keeps messages.
private struct KeptLog: LogHandler {
  let messages: Recorder<String>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  init(_ messages: Recorder<String>) { self.messages = messages }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { messages.note("\(event.message)") }
}

@Suite("The log of a store's SQL")
struct SQLLogTests {
  private let directory: ScratchDirectory

  init() throws { directory = try ScratchDirectory() }

  /// What saving and fetching a person logs.
  private func messages(_ level: SQLLogLevel) throws -> [String] {
    let messages = Recorder<String>()
    var description = PersistentStoreDescription(url: directory.file("\(level).sqlite"))
    description.sqliteOptions.sqlLog = level
    description.sqlLogger = Logger(label: "test") { _ in KeptLog(messages) }
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(description)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    _ = try context.person("Ada Lovelace", age: 36)
    try context.save()
    let reader = ManagedObjectContext(.confinement, coordinator: coordinator)
    #expect(try reader.all(Person.self, .equal("age", .int(36))).count == 1)
    try coordinator.close()
    return messages.items
  }

  @Test("nothing is logged unless it is asked for")
  func off() throws {
    #expect(try messages(.off) == [])
    #expect(SQLiteStoreOptions().sqlLog == .ofProcess)
  }

  @Test("statements come with their rows and times, and without values")
  func statements() throws {
    let messages = try messages(.statements)
    #expect(messages.contains { $0.hasPrefix("INSERT INTO \"Person\"") || $0.hasPrefix("INSERT INTO Person") })
    let query = try #require(messages.last { $0.hasPrefix("SELECT") && $0.contains("Person") && $0.contains("?") })
    #expect(query.contains("(1 row, ") && query.hasSuffix(" ms)"))
    #expect(!messages.contains { $0.contains("Lovelace") || $0.contains("plan: ") })
  }

  @Test("the next level shows the values, and the last one the plan of each query")
  func more() throws {
    let arguments = try messages(.arguments)
    #expect(arguments.contains { $0.contains("Ada Lovelace") && $0.contains("INSERT") })
    #expect(!arguments.contains { $0.contains("plan: ") })
    #expect(try messages(.plans).contains { $0.contains("plan: SCAN") || $0.contains("plan: SEARCH") })
  }

  @Test("a migration is logged with its time")
  func migration() throws {
    let file = directory.file("old.sqlite")
    let old = PersistentStoreCoordinator(model: CompanyModel.older)
    try old.addPersistentStore(.sqlite(at: file))
    try old.close()
    let messages = Recorder<String>()
    var description = PersistentStoreDescription(url: file)
    description.sqliteOptions.sqlLog = .statements
    description.sqlLogger = Logger(label: "test") { _ in KeptLog(messages) }
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(description)
    try coordinator.close()
    let steps = messages.items.filter { $0.contains("migration") }
    #expect(steps.first?.hasPrefix("begin: migration from version [") == true)
    #expect(steps.last?.hasPrefix("end: migration") == true && steps.last?.hasSuffix(" ms)") == true)
  }
}
