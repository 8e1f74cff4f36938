import Foundation
import Glibc
import Logging
import ManagedObjects
import SQLSchema
import SQLiteStore
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

/// Ends the program at a statement of a store's connection, once it has been armed.
private struct KillingLog: LogHandler {
  static let left = Atomic(0)
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: Logging.LogEvent) {
    if Self.left.subtract(1, ordering: .relaxed).newValue == 0 { kill(getpid(), SIGKILL) }
  }
}

@Suite("A program that is killed while it saves into a Core Data store in place")
struct InPlaceKillTests {
  /// A child that has done all that it was to do.
  private static let done: Int32 = 7

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        "Book", attributes: [AttributeDefinition("title", .string)],
        relationships: [
          RelationshipDefinition("chapters", to: "Chapter", inverse: "book", isToMany: true, isOrdered: true),
          RelationshipDefinition("tags", to: "Tag", inverse: "books", isToMany: true),
        ], uniquenessConstraints: [["title"]]),
      EntityDefinition(
        "Chapter", attributes: [AttributeDefinition("title", .string)],
        relationships: [RelationshipDefinition("book", to: "Book", inverse: "chapters")]),
      EntityDefinition(
        "Tag", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("books", to: "Book", inverse: "tags", isToMany: true)]),
    ])
  }

  private static func opened(_ file: URL, _ log: SQLLogLevel = .off) throws -> PersistentStoreCoordinator {
    let model = try model()
    let hashes = model.entities.map { ($0.name, Data(repeating: UInt8($0.name.count), count: 32)) }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(
      .coreData(
        at: file,
        options: .init(template: .versionHashes(Dictionary(uniqueKeysWithValues: hashes)), sqlLog: log)))
    return coordinator
  }

  private static func fill(_ file: URL) throws {
    let coordinator = try opened(file)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let tag = try context.add("Tag", ["name": .string("old")])
    for title in ["Emma", "Persuasion"] {
      let book = try context.add("Book", ["title": .string(title)])
      try book.setValue(.objects([tag.objectID]), forKey: "tags")
      for number in 1...2 {
        try context.add("Chapter", ["title": .string("\(title) \(number)"), "book": .object(book.objectID)])
      }
    }
    try context.save()
    try coordinator.close()
  }

  /// One save that inserts, changes and deletes rows, references, pairs and an order, and dies at a statement of it.
  fileprivate static func save(_ path: String, at point: Int) throws {
    LoggingSystem.bootstrap { _ in KillingLog() }
    let coordinator = try opened(URL(fileURLWithPath: path), .statements)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let books = try context.every("Book").sorted { $0.objectID.rowNumber < $1.objectID.rowNumber }
    try books[0].setValue(.string("Emma, revised"), forKey: "title")
    let tag = try context.add("Tag", ["name": .string("new")])
    try books[0].setValue(.objects([tag.objectID]), forKey: "tags")
    for chapter in try context.every("Chapter") where chapter.value(forKey: "title") == .string("Emma 1") {
      try chapter.setValue(.object(books[1].objectID), forKey: "book")
    }
    try context.add("Book", ["title": .string("Sanditon")])
    for chapter in try context.every("Chapter") where chapter.value(forKey: "title") == .string("Persuasion 2") {
      context.delete(chapter)
    }
    KillingLog.left.store(point, ordering: .relaxed)
    try context.save()
    try coordinator.close()
    exit(Self.done)
  }

  private static func rows(_ file: URL) throws -> [String] {
    let files = try CoreDataBookkeeping(file)
    return try files.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE FROM ZBOOK ORDER BY Z_PK")
      + files.rows("SELECT Z_PK, Z_OPT, ZBOOK, Z_FOK_BOOK IS NULL, ZTITLE FROM ZCHAPTER ORDER BY Z_PK")
      + files.rows("SELECT Z_PK, Z_OPT, ZNAME FROM ZTAG ORDER BY Z_PK")
      + files.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
  }

  @Test("leaves the file as it was or as it is to be, with its bookkeeping, at each statement")
  func everyStatement() async throws {
    let directory = try ScratchDirectory()
    let start = directory.file("start.sqlite")
    try Self.fill(start)
    let before = try Self.rows(start)
    var left: [[String]] = []
    for point in 1...400 {
      let file = directory.file("\(point).sqlite")
      try FileManager.default.copyItem(at: start, to: file)
      let result = await #expect(processExitsWith: .failure) {
        [path = file.path as String, point = point as Int] in
        try InPlaceKillTests.save(path, at: point)
      }
      // Recovers what the log has.
      try Self.opened(file).close()
      left.append(try Self.rows(file))
      #expect(try CoreDataBookkeeping(file).problems(Self.model()) == [], "statement \(point)")
      if result?.exitStatus == .exitCode(Self.done) { break }
      #expect(result?.exitStatus == .signal(SIGKILL))
    }
    let after = try #require(left.last)
    #expect(left.count > 10 && after != before)
    #expect(left.allSatisfy { $0 == before || $0 == after })
    #expect(left.contains(before) && left.filter { $0 == after }.count > 1, "some died after the commit")
  }
}
