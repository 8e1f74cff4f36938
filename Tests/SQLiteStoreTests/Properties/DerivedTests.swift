import Foundation
import GRDB
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Derived attributes")
struct DerivedTests {
  private func stack(_ kind: StoreKind) throws -> CompanyStack { try CompanyStack(kind, model: NewsModel.model) }

  @discardableResult
  private func insert(
    _ entity: String, _ name: String, _ context: ManagedObjectContext, _ values: [String: Value] = [:]
  ) throws -> ManagedObject {
    let object = try context.insert(entity)
    try object.setValue(.string(name), forKey: "name")
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  private func find(_ entity: String, _ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    let request = FetchRequest<ManagedObject>(entityName: entity, predicate: .equal("name", .string(name)))
    return try #require(try context.fetch(request).first)
  }

  /// What the store has, read by a context that knows nothing.
  private func stored(_ entity: String, _ name: String, _ key: String, _ stack: CompanyStack) throws -> Value? {
    try find(entity, name, stack.context()).value(forKey: key)
  }

  @Test(
    "what follows from the row itself is there after the save, here and in the store", arguments: StoreKind.allCases)
  func ownRow(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let article = try insert("Feature", "Élan VITAL", context)
    #expect(article.value(forKey: "searchName") == .null, "a save derives")
    let before = Date()
    try context.save()
    let expected: [String: String] = ["searchName": "elan vital", "lower": "élan vital", "upper": "ÉLAN VITAL"]
    for (key, text) in expected {
      #expect(article.value(forKey: key) == .string(text))
      #expect(try stored("Feature", "Élan VITAL", key, stack) == .string(text))
    }
    guard case .date(let first)? = article.value(forKey: "modified") else { throw Missing() }
    #expect(first.timeIntervalSince(before) > -1)
    #expect(try stored("Feature", "Élan VITAL", "modified", stack) == .date(first))
    #expect(!article.hasChanges && !context.hasChanges)
    try article.setValue(.string("B"), forKey: "name")
    try context.save()
    #expect(article.value(forKey: "lower") == .string("b"))
    guard case .date(let second)? = article.value(forKey: "modified") else { throw Missing() }
    #expect(second > first)
    try article.setValue(.null, forKey: "name")
    try context.save()
    #expect(article.value(forKey: "lower") == .null)
  }

  private struct Missing: Error {}

  @Test("counts and sums follow insertion, moving, changing and deleting of the members", arguments: StoreKind.allCases)
  func aggregates(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let (news, sport) = (try insert("Category", "News", context), try insert("Category", "Sport", context))
    let articles = try (1...3).map { number in
      try insert(
        "Article", "A\(number)", context,
        ["views": .int(Int64(number)), "price": .decimal(Decimal(string: "0.1")!), "category": .object(news.objectID)])
    }
    try insert("Feature", "F", context, ["category": .object(news.objectID)])
    try context.save()
    func expect(
      _ category: ManagedObject, _ count: Int64, _ views: Int64, _ worth: String, line: Int = #line
    ) throws {
      let expected: [String: Value] = [
        "articlesCount": .int(count), "views": .int(views), "worth": .decimal(try #require(Decimal(string: worth))),
      ]
      guard case .string(let name)? = category.value(forKey: "name") else { throw Missing() }
      for (key, value) in expected {
        #expect(category.value(forKey: key) == value, "\(key) of \(name), line \(line)")
        #expect(try stored("Category", name, key, stack) == value, "stored \(key) of \(name), line \(line)")
      }
      #expect(!category.hasChanges)
    }
    try expect(news, 4, 6, "0.3")
    try expect(sport, 0, 0, "0")
    try articles[2].setValue(.object(sport.objectID), forKey: "category")
    try articles[0].setValue(.int(10), forKey: "views")
    try context.save()
    try expect(news, 3, 12, "0.2")
    try expect(sport, 1, 3, "0.1")
    context.delete(articles[1])
    try articles[2].setValue(.null, forKey: "category")
    try context.save()
    try expect(news, 2, 10, "0.1")
    try expect(sport, 0, 0, "0")
    let other = stack.context()
    let third = try find("Article", "A3", other)
    try third.setValue(.object(news.objectID), forKey: "category")
    try other.save()
    #expect(try stored("Category", "News", "articlesCount", stack) == .int(3))
  }

  @Test("many-to-many, from either end, and without an inverse", arguments: StoreKind.allCases)
  func pairs(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let one = try insert("Article", "One", context, ["views": .int(1)])
    let two = try insert("Article", "Two", context, ["views": .int(2)])
    let tag = try insert("Tag", "red", context, ["articles": .objects([one.objectID, two.objectID])])
    let reader = try insert("Reader", "Ada", context, ["saved": .objects([one.objectID, two.objectID])])
    try context.save()
    #expect(tag.value(forKey: "articlesCount") == .int(2) && tag.value(forKey: "views") == .double(3))
    #expect(reader.value(forKey: "savedCount") == .int(2))
    try two.setValue(.objects([]), forKey: "tags")
    try one.setValue(.int(7), forKey: "views")
    try context.save()
    #expect(tag.value(forKey: "articlesCount") == .int(1) && tag.value(forKey: "views") == .double(7))
    context.delete(one)
    try context.save()
    #expect(try stored("Tag", "red", "articlesCount", stack) == .int(0))
    #expect(try stored("Tag", "red", "views", stack) == .double(0))
    #expect(try stored("Reader", "Ada", "savedCount", stack) == .int(1))
    #expect(reader.value(forKey: "savedCount") == .int(1))
  }

  @Test("a key path follows changes of every object on its way", arguments: StoreKind.allCases)
  func keyPaths(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let (oslo, rome) = (try insert("Country", "Norway", context), try insert("Country", "Italy", context))
    let news = try insert("Category", "News", context, ["country": .object(oslo.objectID)])
    let article = try insert("Article", "A", context, ["category": .object(news.objectID)])
    try context.save()
    func expect(_ category: Value, _ country: Value, line: Int = #line) throws {
      #expect(
        article.value(forKey: "categoryName") == category && article.value(forKey: "countryName") == country,
        "line \(line)")
      #expect(try stored("Article", "A", "categoryName", stack) == category, "line \(line)")
      #expect(try stored("Article", "A", "countryName", stack) == country, "line \(line)")
    }
    try expect(.string("News"), .string("NORWAY"))
    try news.setValue(.string("New"), forKey: "name")
    try context.save()
    try expect(.string("New"), .string("NORWAY"))
    try oslo.setValue(.string("Norge"), forKey: "name")
    try context.save()
    try expect(.string("New"), .string("NORGE"))
    try news.setValue(.object(rome.objectID), forKey: "country")
    try context.save()
    try expect(.string("New"), .string("ITALY"))
    context.delete(rome)
    try context.save()
    try expect(.string("New"), .null)
    context.delete(news)
    try context.save()
    try expect(.null, .null)
  }

  @Test(
    "a save tells of objects that it changed only indirectly, and other contexts take it on",
    arguments: StoreKind.allCases)
  func merging(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let (writer, other) = (stack.context(), stack.context())
    try insert("Category", "News", writer)
    try writer.save()
    let there = try find("Category", "News", other)
    try there.setValue(.string("Mine"), forKey: "name")
    let here = try find("Category", "News", stack.context())
    let inserter = stack.context()
    try insert("Article", "A", inserter, ["category": .object(here.objectID)])
    let save = try #require(try inserter.saveAndTell())
    #expect(save.refreshedObjectIDs == [here.objectID])
    other.mergeChanges(fromContextDidSave: save)
    #expect(there.value(forKey: "articlesCount") == .int(1) && there.isUpdated)
    #expect(Array(there.changedValues().keys) == ["name"])
    try other.save()
    #expect(try stored("Category", "Mine", "articlesCount", stack) == .int(1))
  }

  @Test("values that others' saves derived are no conflict and aren't overwritten", arguments: StoreKind.allCases)
  func noConflict(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let (late, writer) = (stack.context(), stack.context())
    try insert("Category", "News", writer)
    try writer.save()
    let news = try find("Category", "News", late)
    try insert("Article", "A", writer, ["category": .object(news.objectID)])
    try writer.save()
    try news.setValue(.string("Late"), forKey: "name")
    try late.save()
    #expect(try stored("Category", "Late", "articlesCount", stack) == .int(1))
  }

  @Test("a derived value replaces one that a program assigns", arguments: StoreKind.allCases)
  func assigned(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let news = try insert("Category", "News", context, ["articlesCount": .int(99)])
    try context.save()
    #expect(news.value(forKey: "articlesCount") == .int(0))
    try news.setValue(.int(5), forKey: "articlesCount")
    try news.setValue(.string("New"), forKey: "name")
    try context.save()
    #expect(news.value(forKey: "articlesCount") == .int(0))
    #expect(try stored("Category", "New", "articlesCount", stack) == .int(0))
  }

  @Test("a save of a child derives when it reaches the store", arguments: StoreKind.allCases)
  func children(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let parent = stack.context()
    let news = try insert("Category", "News", parent)
    try parent.save()
    let child = ManagedObjectContext(.confinement, parent: parent)
    try insert("Article", "A", child, ["category": .object(news.objectID)])
    try child.save()
    #expect(news.value(forKey: "articlesCount") == .int(0))
    try parent.save()
    #expect(news.value(forKey: "articlesCount") == .int(1))
  }

  @Test("predicates and sorts find derived values")
  func fetching() throws {
    let stack = try stack(.sqlite)
    let context = stack.context()
    try insert("Article", "Élan", context)
    try context.save()
    #expect(
      try context.fetch(
        FetchRequest<ManagedObject>(entityName: "Article", predicate: .equal("searchName", .string("elan")))
      ).count == 1)
  }

  @Test("a failed save derives nothing", arguments: StoreKind.allCases)
  func failing(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = stack.context()
    let news = try insert("Category", "News", context)
    try context.save()
    stack.breaker.isBroken = true
    try insert("Article", "A", context, ["category": .object(news.objectID)])
    #expect(throws: ManagedObjectError.self) { try context.save() }
    stack.breaker.isBroken = false
    #expect(news.value(forKey: "articlesCount") == .int(0))
    try context.save()
    #expect(news.value(forKey: "articlesCount") == .int(1))
  }

  @Test("the file stays writable for other programs: nothing in it calls this one")
  func otherPrograms() throws {
    let stack = try stack(.sqlite)
    try insert("Category", "News", stack.context())
    try stack.connection().write { db in
      try db.execute(sql: "INSERT INTO Category (name) VALUES ('Own'); UPDATE Category SET articlesCount = 3")
    }
    #expect(try stack.column("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == ["0"])
  }
}
