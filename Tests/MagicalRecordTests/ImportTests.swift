import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// A book that has a say in its import.
private final class Book: ManagedObject, DataImporting {
  override class var propertyNames: [String]? {
    ["bookID", "title", "pages", "price", "weight", "language", "writer", "topics"]
  }
  var title: String? {
    get { self[1] }
    set { self[1] = newValue }
  }
  var pages: Int? {
    get { self[2] }
    set { self[2] = newValue }
  }
  var language: String? {
    get { self[5] }
    set { self[5] = newValue }
  }
  var writer: ManagedObject? { object(6) }
  var topics: Set<ManagedObject> { objects(7) }

  func shouldImport(_ data: ImportedValue) -> Bool { data.value(forKeyPath: "draft") != true }
  func willImport(_ data: ImportedValue) { language = "before" }
  func importValue(_ value: ImportedValue, forKey key: String) throws -> Bool {
    guard key == "title", case .string(let text) = value else { return false }
    title = text.uppercased()
    return true
  }
  func shouldImport(_ data: ImportedValue, forRelationship name: String) -> Bool { data != "secret" }
  func didImport(_ data: ImportedValue) { language = (language ?? "") + ", after" }
}

@Suite("Importing by the model's user info")
struct ImportTests {
  private static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(
        entities: [
          EntityDefinition(
            "Book", className: "Book",
            attributes: [
              AttributeDefinition("bookID", .integer64, userInfo: ["mappedKeyName": "isbn", "mappedKeyName.1": "id"]),
              AttributeDefinition("title", .string), AttributeDefinition("pages", .integer16),
              AttributeDefinition("price", .decimal), AttributeDefinition("weight", .double),
              AttributeDefinition(
                "language", .string, defaultValue: .string("en"), userInfo: ["useDefaultValueWhenNotPresent": "YES"]),
            ],
            relationships: [
              RelationshipDefinition(
                "writer", to: "Writer", inverse: "books",
                userInfo: ["mappedKeyName": "author", "relatedByAttribute": "name"]),
              RelationshipDefinition("topics", to: "Topic", isToMany: true),
            ]),
          EntityDefinition(
            "Writer",
            attributes: [
              AttributeDefinition("name", .string),
              AttributeDefinition("born", .date, userInfo: ["dateFormat": "d.M.yyyy"]),
            ],
            relationships: [RelationshipDefinition("books", to: "Book", inverse: "writer", isToMany: true)],
            userInfo: ["relatedByAttribute": "name"]),
          EntityDefinition("Topic", attributes: [AttributeDefinition("topicID", .string)]),
        ],
        classes: ["Book": Book.self])
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  private func stack(_ kind: StoreKind) throws -> CompanyStack { try CompanyStack(kind, model: Self.model) }

  @Test("finds an object again by its key, under any of its names", arguments: StoreKind.allCases)
  func again(_ kind: StoreKind) throws {
    let context = try stack(kind).context()
    let first = try #require(try context.importObject(["isbn": 7, "title": "one", "pages": "12"], into: "Book"))
    try context.save()
    let second = try context.importObject(["id": "7", "pages": 13], into: "Book") as? Book
    #expect(second === first)
    #expect((second?.title, second?.pages) == ("ONE", 13))
    #expect(try context.importObject(["title": "no key"], into: "Book") !== first)
  }

  @Test(
    "makes one object of records with the same key in one batch, and of related ones", arguments: StoreKind.allCases)
  func batch(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let reads = stack.reads.items.count
    let records: [ImportedValue] = (0..<500).map { number in
      [
        "isbn": .int(Int64(number / 2)), "title": .string("t\(number)"),
        "author": ["name": .string("w\(number % 3)"), "born": "4.5.1970"],
        "topics": [.string("t\(number % 5)"), "all"],
      ]
    }
    let books = try context.importObjects(records, into: "Book")
    #expect(stack.reads.items.count - reads == 3, "one fetch for each key attribute")
    #expect(books.count == 500 && Set(books).count == 250)
    try context.save()
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Writer")) == 3)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Topic")) == 6)
    let born = try context.fetch(FetchRequest<ManagedObject>(entityName: "Writer")).map { $0.value(forKey: "born") }
    #expect(born == Array(repeating: .date(try #require(ISODate.date(parsing: "1970-05-04T00:00:00Z"))), count: 3))
    let again = try stack.context().importObjects(records, into: "Book", batchSize: 7)
    #expect(Set(again.map(\.objectID)) == Set(books.map(\.objectID)))
  }

  @Test("lets the class have its say")
  func hooks() throws {
    let context = try stack(.inMemory).context()
    let book = try #require(
      try context.importObject(["isbn": 1, "title": "Quiet", "author": "secret"], into: "Book") as? Book)
    #expect(book.title == "QUIET")
    #expect(book.language == "en, after", "willImport comes before the default, didImport after it")
    #expect(book.writer == nil)
    #expect(try context.importObject(["isbn": 2, "draft": true], into: "Book") == nil)
    #expect(context.insertedObjects == [book])
    #expect(try context.importObjects([["isbn": 2, "draft": true], ["isbn": 3]], into: "Book").count == 1)
  }

  @Test("keeps values that the data doesn't have, and clears those that are null")
  func absent() throws {
    let context = try stack(.inMemory).context()
    let data: ImportedValue = ["isbn": 1, "pages": 10, "author": ["name": "Ada"], "topics": ["a", nil]]
    let book = try #require(try context.importObject(data, into: "Book") as? Book)
    try context.importObject(["isbn": 1], into: "Book")
    #expect(book.pages == 10 && book.writer != nil && book.topics.count == 1)
    try book.importValues(from: ["pages": nil, "author": nil, "topics": nil])
    #expect(book.pages == nil && book.writer == nil && book.topics.isEmpty)
  }

  @Test(
    "refuses what an attribute can't hold, and says where",
    arguments: [
      (["isbn": 1, "pages": "many"], "Book.pages"), (["isbn": 1, "pages": 70000], "Book.pages"),
      (["isbn": 1, "pages": 1.5], "Book.pages"), (["isbn": ["a"]], "Book.bookID"),
      (["isbn": 1, "pages": "12 apples"], "Book.pages"), (["isbn": 1, "pages": "1_000"], "Book.pages"),
      (["isbn": 1, "price": "0x10"], "Book.price"), (["isbn": 1, "price": "1,5"], "Book.price"),
      (["isbn": 1, "weight": "nan"], "Book.weight"), (["isbn": 1, "weight": "0x1p3"], "Book.weight"),
      (["isbn": 1, "weight": "1e999"], "Book.weight"),
      (["author": ["name": "x", "born": "yesterday"]], "d.M.yyyy"), (["author": [["name": "x"]]], "Writer"),
      ("x", "Book"),
    ] as [(ImportedValue, String)])
  func unfit(_ data: ImportedValue, _ place: String) throws {
    let context = try stack(.inMemory).context()
    let error = #expect(throws: MagicalImportError.self) { try context.importObject(data, into: "Book") }
    #expect("\(try #require(error))".contains(place))
  }

  @Test("reads JSON and writes it again")
  func json() throws {
    let text = #"{"a":[1,-2.5,"x",null,true],"b":{"c":12345678901234567890.125}}"#
    let value = try ImportedValue(json: Data(text.utf8))
    let exact = try #require(Decimal(string: "12345678901234567890.125"))
    #expect(value == ["a": [1, -2.5, "x", nil, true], "b": ["c": .decimal(exact)]])
    #expect(try JSONDecoder().decode(ImportedValue.self, from: JSONEncoder().encode(value)) == value)
    #expect(value.value(forKeyPath: "b.c") == .decimal(exact))
    #expect(value.value(forKeyPath: "b.d") == nil && value.value(forKeyPath: "a.b") == nil)
    #expect(throws: (any Error).self) { try ImportedValue(json: Data("{\"a\":".utf8)) }
  }
}
