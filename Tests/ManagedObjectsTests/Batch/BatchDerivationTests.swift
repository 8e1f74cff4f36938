import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Derived attributes in batch requests")
struct BatchDerivationTests {
  private func value(_ entity: String, _ name: String, _ key: String, _ stack: CompanyStack) throws -> Value? {
    let request = FetchRequest<ManagedObject>(entityName: entity, predicate: .equal("name", .string(name)))
    return try stack.context().fetch(request).first?.value(forKey: key)
  }

  /// News and Sport, in France; articles A0…A9 in News, with views 0…9, inserted by a batch.
  private func stack(_ kind: StoreKind) throws -> (stack: CompanyStack, sport: ManagedObjectID) {
    let stack = try CompanyStack(kind, model: NewsModel.model)
    let context = stack.context()
    let (france, news, sport) = (
      try context.insert("Country"), try context.insert("Category"), try context.insert("Category")
    )
    for (object, name) in [(france, "France"), (news, "News"), (sport, "Sport")] {
      try object.setValue(.string(name), forKey: "name")
    }
    for category in [news, sport] { try category.setValue(.object(france.objectID), forKey: "country") }
    try context.save()
    let rows: [[String: Value]] = (0..<10).map {
      ["name": .string("A\($0)"), "views": .int($0), "category": .object(news.objectID)]
    }
    try context.execute(BatchInsertRequest(entityName: "Article", objects: rows))
    return (stack, sport.objectID)
  }

  @Test("an insert derives what the rows derive, and what others derive from them", arguments: StoreKind.allCases)
  func insert(_ kind: StoreKind) throws {
    let (stack, _) = try stack(kind)
    #expect(try value("Article", "A3", "searchName", stack) == .string("a3"))
    #expect(try value("Article", "A3", "categoryName", stack) == .string("News"))
    #expect(try value("Article", "A3", "countryName", stack) == .string("FRANCE"))
    #expect(try value("Article", "A3", "modified", stack) != .null)
    #expect(try value("Category", "News", "articlesCount", stack) == .int(10))
    #expect(try value("Category", "News", "views", stack) == .int(45))
    #expect(try value("Category", "Sport", "articlesCount", stack) == .int(0))
  }

  @Test("stored rows that others are merged into are derived again", arguments: StoreKind.allCases)
  func handler(_ kind: StoreKind) throws {
    let (stack, _) = try stack(kind)
    var count = 0
    try stack.context().execute(
      BatchInsertRequest(entityName: "Article") { object in
        object.slots[object.entity.slot(of: "name") ?? 0] = .string("Ä\(count)")
        object.slots[object.entity.slot(of: "lower") ?? 0] = .string("given")
        count += 1
        return count > 2
      })
    #expect(try value("Article", "Ä1", "lower", stack) == .string("ä1"))
  }

  @Test("an update derives both, where rows come from and where they go", arguments: StoreKind.allCases)
  func update(_ kind: StoreKind) throws {
    let (stack, sport) = try stack(kind)
    let before = try value("Article", "A1", "modified", stack)
    var request = BatchUpdateRequest(entityName: "Article")
    request.predicate = try FetchPredicate(format: "views < 2")
    request.propertiesToUpdate = [
      "views": .constant(.int(100)), "category": .constant(.object(sport)), "name": .constant(.string("Ünder")),
    ]
    try stack.context().execute(request)
    #expect(try value("Category", "News", "articlesCount", stack) == .int(8))
    #expect(try value("Category", "News", "views", stack) == .int(44))
    #expect(try value("Category", "Sport", "articlesCount", stack) == .int(2))
    #expect(try value("Category", "Sport", "views", stack) == .int(200))
    #expect(try value("Article", "Ünder", "searchName", stack) == .string("under"))
    #expect(try value("Article", "Ünder", "categoryName", stack) == .string("Sport"))
    #expect(try value("Article", "Ünder", "modified", stack) != before)
    var rename = BatchUpdateRequest(entityName: "Category")
    rename.predicate = .equal("name", .string("Sport"))
    rename.propertiesToUpdate = ["name": .constant(.string("Games"))]
    try stack.context().execute(rename)
    #expect(try value("Article", "Ünder", "categoryName", stack) == .string("Games"))
  }

  @Test("a delete derives the counts of its rows again", arguments: StoreKind.allCases)
  func delete(_ kind: StoreKind) throws {
    let (stack, _) = try stack(kind)
    let old = try FetchPredicate(format: "views > 6")
    try stack.context().execute(
      BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Article", predicate: old)))
    #expect(try value("Category", "News", "articlesCount", stack) == .int(7))
    #expect(try value("Category", "News", "views", stack) == .int(21))
    let before = try value("Article", "A1", "modified", stack)
    try stack.context().execute(
      BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Category", predicate: nil)))
    #expect(try value("Article", "A1", "modified", stack) != before, "it has lost its category")
    #expect(try value("Article", "A1", "categoryName", stack) == .null)
    #expect(try value("Article", "A1", "countryName", stack) == .null)
  }
}
