import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

@Suite("A Core Data store in place")
struct CoreDataInPlaceTests {
  /// Books and their pages, with all that needs bookkeeping of its own: subentities, an order, pairs, a count, a unique value.
  private static func makeModel() throws -> ManagedObjectModel {
    var pagesCount = AttributeDefinition("pagesCount", .integer64, derivationExpression: "pages.@count")
    pagesCount.isOptional = true
    var isbn = AttributeDefinition("isbn", .string)
    isbn.preservesValueInHistoryOnDeletion = true
    return try ManagedObjectModel(entities: [
      EntityDefinition(
        "Book",
        attributes: [
          isbn, AttributeDefinition("title", .string), AttributeDefinition("price", .decimal),
          AttributeDefinition("published", .date), AttributeDefinition("code", .uuid),
          AttributeDefinition("link", .uri), AttributeDefinition("isRead", .boolean),
          AttributeDefinition("weight", .float), AttributeDefinition("cover", .binaryData), pagesCount,
        ],
        relationships: [
          RelationshipDefinition("pages", to: "Page", inverse: "book", isToMany: true, deleteRule: .cascade),
          RelationshipDefinition("chapters", to: "Chapter", inverse: "book", isToMany: true, isOrdered: true),
          RelationshipDefinition("tags", to: "Tag", inverse: "books", isToMany: true),
        ], uniquenessConstraints: [["isbn"]]),
      EntityDefinition("Novel", parent: "Book", attributes: [AttributeDefinition("genre", .string)]),
      EntityDefinition(
        "Page", attributes: [AttributeDefinition("number", .integer32)],
        relationships: [RelationshipDefinition("book", to: "Book", inverse: "pages")]),
      EntityDefinition(
        "Chapter", attributes: [AttributeDefinition("title", .string)],
        relationships: [RelationshipDefinition("book", to: "Book", inverse: "chapters")]),
      EntityDefinition(
        "Tag", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("books", to: "Book", inverse: "tags", isToMany: true, isOrdered: true)]),
    ])
  }

  /// A file of the model, made by itself, and a coordinator over it.
  private struct Library {
    let folder: ScratchDirectory
    let file: URL
    let model: ManagedObjectModel
    let coordinator: PersistentStoreCoordinator

    init() throws {
      model = try CoreDataInPlaceTests.makeModel()
      folder = try ScratchDirectory()
      file = folder.file("Library.sqlite")
      coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addPersistentStore(description)
    }

    var description: PersistentStoreDescription {
      let hashes = model.entities.map { ($0.name, Data(repeating: UInt8($0.name.count), count: 32)) }
      return .coreData(
        at: file, options: .init(template: .versionHashes(Dictionary(uniqueKeysWithValues: hashes))))
    }

    func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }

    /// A new object with values.
    func insert(_ entity: String, _ values: [String: Value], in context: ManagedObjectContext) throws -> ManagedObject {
      let object = try context.insert(entity)
      for (name, value) in values { try object.setValue(value, forKey: name) }
      return object
    }

    var files: CoreDataBookkeeping { get throws { try CoreDataBookkeeping(file) } }
  }

  @Test("a save writes rows, columns and counters as Core Data does, and changes nothing else")
  func insertion() throws {
    let library = try Library()
    let frame = try library.files.frame()
    let context = library.context()
    let date = Date(timeIntervalSinceReferenceDate: 737_057_646.843063)
    let code = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    let novel = try library.insert(
      "Novel",
      [
        "title": .string("Emma"), "price": .decimal(Decimal(string: "10.11") ?? 0), "published": .date(date),
        "code": .uuid(code), "isRead": .bool(true), "weight": .double(0.5), "genre": .string("romance"),
        "cover": .data(Data([1, 2])), "link": .uri(try #require(URL(string: "https://example.org/emma"))),
      ], in: context)
    for number in 1...3 {
      let page = try library.insert("Page", ["number": .int(Int64(number))], in: context)
      try page.setValue(.object(novel.objectID), forKey: "book")
    }
    try context.save()
    #expect(
      try library.files.rows(
        "SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPRICE, ZPUBLISHED, ZCODE, ZISREAD, ZWEIGHT, ZGENRE, ZCOVER, ZLINK, "
          + "ZPAGESCOUNT FROM ZBOOK")
        == [
          "1|2|1|Emma|10.11|\(date.timeIntervalSinceReferenceDate)|00112233445566778899aabbccddeeff|1|0.5|romance|0102"
            + "|https://example.org/emma|3"
        ])
    #expect(
      try library.files.rows("SELECT Z_PK, Z_OPT, ZBOOK, Z1_BOOK FROM ZPAGE") == ["1|1|1|2", "2|1|1|2", "3|1|1|2"])
    #expect(try library.files.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_MAX > 0") == ["Book|1", "Page|3"])
    #expect(novel.value(forKey: "pagesCount") == .int(3))
    #expect(try library.files.problems(library.model) == [])
    #expect(try library.files.frame() == frame)
    #expect(
      novel.objectID.uriRepresentation.absoluteString
        == "x-coredata://\(try library.files.rows("SELECT Z_UUID FROM Z_METADATA")[0])/Novel/p1")

    let other = library.context()
    let found = try other.existingObject(with: novel.objectID)
    for name in ["title", "price", "published", "code", "isRead", "weight", "genre", "cover", "link", "pagesCount"] {
      #expect(found.value(forKey: name) == novel.value(forKey: name), "\(name)")
    }
  }

  @Test("each write of a row counts, also of the owner of a set whose members change")
  func versions() throws {
    let library = try Library()
    let context = library.context()
    let book = try library.insert("Book", ["title": .string("Emma")], in: context)
    try context.save()
    try book.setValue(.string("Persuasion"), forKey: "title")
    try context.save()
    #expect(try library.files.rows("SELECT Z_OPT FROM ZBOOK") == ["2"])
    let page = try library.insert("Page", [:], in: context)
    try page.setValue(.object(book.objectID), forKey: "book")
    try context.save()
    #expect(try library.files.rows("SELECT Z_OPT FROM ZBOOK") == ["3"])
    context.delete(page)
    try context.save()
    #expect(try library.files.rows("SELECT Z_OPT, ZPAGESCOUNT FROM ZBOOK") == ["4|0"])
    #expect(book.value(forKey: "pagesCount") == .int(0))
    #expect(try library.files.problems(library.model) == [])
  }

  @Test("orders and pairs are kept in Core Data's columns, and follow deletions")
  func relationships() throws {
    let library = try Library()
    let context = library.context()
    let books = try ["A", "B", "C"].map { try library.insert("Book", ["title": .string($0)], in: context) }
    let tag = try library.insert("Tag", ["name": .string("red")], in: context)
    try tag.setValue(.orderedObjects([books[2].objectID, books[0].objectID, books[1].objectID]), forKey: "books")
    let chapters = try ["one", "two"].map { try library.insert("Chapter", ["title": .string($0)], in: context) }
    try books[0].setValue(.orderedObjects([chapters[1].objectID, chapters[0].objectID]), forKey: "chapters")
    try context.save()
    let other = library.context()
    #expect(
      try other.existingObject(with: tag.objectID).value(forKey: "books")
        == .orderedObjects([books[2].objectID, books[0].objectID, books[1].objectID]))
    #expect(
      try library.files.rows("SELECT ZTITLE FROM ZCHAPTER WHERE ZBOOK = 1 ORDER BY Z_FOK_BOOK") == ["two", "one"])
    context.delete(books[0])
    try context.save()
    #expect(try library.files.rows("SELECT count(*) FROM Z_1TAGS") == ["2"])
    #expect(
      try library.files.rows("SELECT ZBOOK, Z1_BOOK, Z_FOK_BOOK FROM ZCHAPTER") == ["NULL|NULL|NULL", "NULL|NULL|NULL"])
    #expect(try library.files.problems(library.model) == [])
  }

  @Test("unique values are refused where another row has them, and may be exchanged")
  func uniqueness() throws {
    let library = try Library()
    let context = library.context()
    let first = try library.insert("Book", ["isbn": .string("1")], in: context)
    let second = try library.insert("Novel", ["isbn": .string("2")], in: context)
    try context.save()
    try first.setValue(.string("2"), forKey: "isbn")
    try second.setValue(.string("1"), forKey: "isbn")
    try context.save()
    #expect(try library.files.rows("SELECT ZISBN FROM ZBOOK ORDER BY Z_PK") == ["2", "1"])
    let third = try library.insert("Book", ["isbn": .string("1")], in: context)
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.constraintConflicts(let conflicts) = error else { return false }
      return conflicts.map(\.databaseObjectID) == [second.objectID] && conflicts[0].constraint == ["isbn"]
    }
    try third.setValue(.string("3"), forKey: "isbn")
    try context.save()
    #expect(try library.files.problems(library.model) == [])
  }

  @Test("predicates over dates, UUIDs and decimals find the same rows as in memory")
  func predicates() throws {
    let library = try Library()
    let context = library.context()
    let (early, late) = (Date(timeIntervalSinceReferenceDate: 1.25), Date(timeIntervalSinceReferenceDate: 700_000_000))
    let codes = [UUID(), UUID()]
    for (index, date) in [early, late].enumerated() {
      _ = try library.insert(
        index == 0 ? "Book" : "Novel",
        [
          "title": .string("\(index)"), "published": .date(date), "code": .uuid(codes[index]),
          "price": .decimal(Decimal(string: index == 0 ? "3.3333333333" : "7") ?? 0),
        ], in: context)
    }
    try context.save()
    func titles(_ predicate: FetchPredicate?, _ sort: [FetchSortDescriptor] = []) throws -> [String] {
      let request = FetchRequest<ManagedObject>(
        entityName: "Book", predicate: predicate, sortDescriptors: sort.isEmpty ? [FetchSortDescriptor("title")] : sort)
      return try library.context().fetch(request).map { $0.value(forKey: "title")?.plainText ?? "" }
    }
    #expect(try titles(.equal("published", .date(early))) == ["0"])
    #expect(try titles(FetchPredicate(format: "published > %@", early)) == ["1"])
    #expect(try titles(.equal("code", .uuid(codes[1]))) == ["1"])
    #expect(try titles(FetchPredicate(format: "code IN %@", [codes[0]])) == ["0"])
    #expect(try titles(.equal("price", .decimal(Decimal(string: "3.3333333333") ?? 0))) == ["0"])
    #expect(try titles(FetchPredicate(format: "price > 3.4")) == ["1"])
    #expect(try titles(FetchPredicate(format: "entity.name == 'Novel'")) == ["1"])
    #expect(try titles(nil, [FetchSortDescriptor("published", ascending: false)]) == ["1", "0"])
    #expect(try titles(nil, [FetchSortDescriptor("price", ascending: false)]) == ["1", "0"])
    var request = FetchRequest<ManagedObject>(entityName: "Book", sortDescriptors: [FetchSortDescriptor("title")])
    request.propertiesToFetch = ["published", "code", "price"]
    let rows = try library.context().fetchDictionaries(request)
    #expect(rows.map { $0.value(forKey: "published") } == [.date(early), .date(late)])
    #expect(rows.map { $0.value(forKey: "code") } == codes.map { .uuid($0) })
    #expect(rows.first?.value(forKey: "price") == .decimal(Decimal(string: "3.3333333333") ?? 0))
  }

  @Test("a model of another version is refused with what differs")
  func otherVersion() throws {
    let library = try Library()
    try library.coordinator.close()
    let other = try ManagedObjectModel(
      entities: library.model.entities.filter { $0.name != "Tag" && $0.name != "Book" && $0.name != "Novel" }.map {
        var entity = $0.definition
        entity.relationships = []
        return entity
      })
    let coordinator = PersistentStoreCoordinator(model: other)
    #expect(
      throws: CoreDataStoreError.otherModel(
        path: library.file.path,
        differences: ["the model has no entity Book", "the model has no entity Novel", "the model has no entity Tag"])
    ) { try coordinator.addPersistentStore(.coreData(at: library.file)) }
  }

  @Test("what can't be done is refused by name, and a file that isn't a store isn't touched")
  func refusals() throws {
    let folder = try ScratchDirectory()
    let model = try Self.makeModel()
    let coordinator = PersistentStoreCoordinator(model: model)
    let missing = folder.file("missing.sqlite")
    #expect {
      try coordinator.addPersistentStore(.coreData(at: missing))
    } throws: { error in
      guard case CoreDataStoreError.cannotCreate = error else { return false }
      return "\(error)".contains(".momd")
    }
    #expect(!FileManager.default.fileExists(atPath: missing.path))

    let plain = folder.file("plain.sqlite")
    let queue = try DatabaseQueue(path: plain.path)
    try queue.write { try $0.execute(sql: "CREATE TABLE person (name TEXT)") }
    try queue.close()
    let before = try Data(contentsOf: plain)
    #expect {
      try coordinator.addPersistentStore(.coreData(at: plain))
    } throws: { error in
      if case CoreDataStoreError.notACoreDataStore = error { true } else { false }
    }
    #expect(try Data(contentsOf: plain) == before)

    let oneWay = try ManagedObjectModel(entities: [
      EntityDefinition("A", relationships: [RelationshipDefinition("others", to: "A", isToMany: true)])
    ])
    #expect {
      try PersistentStoreCoordinator(model: oneWay).addPersistentStore(
        .coreData(
          at: missing, options: .init(template: .versionHashes(["A": Data(repeating: 1, count: 32)]))))
    } throws: { error in
      "\(error)".contains("A.others") && "\(error)".contains("no inverse")
    }
  }
}
