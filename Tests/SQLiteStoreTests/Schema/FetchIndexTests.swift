import Foundation
import GRDB
import ManagedObjects
import SQLSchema
import SQLiteStore
import TestSupport
import Testing

@Suite("Indexes of the model")
struct FetchIndexTests {
  private func schema(_ indexes: [FetchIndexDefinition]) throws -> SchemaMap {
    try SchemaMap(
      model: ManagedObjectModel(entities: [
        EntityDefinition(
          "Order",
          attributes: [
            AttributeDefinition("number", .integer64), AttributeDefinition("state", .string),
            AttributeDefinition("isOpen", .boolean), AttributeDefinition("price", .double),
            AttributeDefinition("pieces", .integer32), AttributeDefinition("due", .date),
          ],
          relationships: [RelationshipDefinition("buyer", to: "Buyer", inverse: "orders")], indexes: indexes),
        EntityDefinition(
          "Buyer", attributes: [AttributeDefinition("name", .string)],
          relationships: [RelationshipDefinition("orders", to: "Order", inverse: "buyer", isToMany: true)]),
      ]))
  }

  private func index(_ predicate: String?, _ elements: FetchIndexDefinition.Element...) -> FetchIndexDefinition {
    FetchIndexDefinition("byIt", elements: elements, partialPredicateFormat: predicate)
  }

  private func text(_ index: FetchIndexDefinition) throws -> String? {
    let schema = try schema([index])
    #expect(schema.warnings == [])
    return schema.indexes.first { $0.name == "Order_byIt" }?.createStatement
  }

  @Test("a partial index has the predicate as its condition, with literals and quotes as they are")
  func partial() throws {
    let quoted = try #require(
      try text(index("isOpen == TRUE AND state == 'it\\'s ?'", .init(property: "number", isAscending: false))))
    #expect(quoted.hasPrefix("CREATE INDEX IF NOT EXISTS \"Order_byIt\" ON \"Order\" (\"number\" DESC) WHERE "))
    #expect(quoted.contains("\"isOpen\" = 1") && quoted.contains("\"state\" = 'it''s ?'"))
    let made = try #require(try text(index("isOpen == TRUE AND due != nil", .init(property: "number"))))
    #expect(made.contains("WHERE") && made.contains("\"isOpen\"") && !made.contains("?") && !made.contains("t0"))
  }

  @Test("an expression of columns and built-in arithmetic is indexed")
  func expression() throws {
    let made = try #require(try text(index(nil, .init(property: nil, expression: "price * pieces"))))
    #expect(made.contains("((\"price\" * \"pieces\"))"))
  }

  @Test("SQLite takes the indexes, any connection can write rows, and a fetch uses them")
  func used() throws {
    let schema = try schema([
      FetchIndexDefinition(
        "open", elements: [.init(property: "number")], partialPredicateFormat: "due != nil AND state == 'new'"),
      FetchIndexDefinition("value", elements: [.init(property: nil, expression: "price * pieces", isAscending: false)]),
    ])
    let queue = try DatabaseQueue()
    try queue.write { db in
      for statement in schema.createStatements { try db.execute(sql: statement) }
      try db.execute(
        sql: "INSERT INTO \"Order\" (number, state, due, price, pieces) VALUES (1, 'new', '2024-01-01', 2.5, 4)")
      let plan = try Row.fetchAll(
        db, sql: "EXPLAIN QUERY PLAN SELECT * FROM \"Order\" AS t0 WHERE (t0.\"price\" * t0.\"pieces\") > 5")
      #expect(plan.map { $0["detail"] ?? "" }.joined().contains("Order_value"))
      #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
    }
  }

  @Test("what an index can't be is a warning that says why")
  func warnings() throws {
    let cases: [(FetchIndexDefinition, String)] = [
      (index(nil, .init(property: "price", collation: "RTree")), "R-tree"),
      (index(nil, .init(property: nil, expression: "lowercase:(state)")), "sqlite3 and other programs"),
      (index("state CONTAINS[c] 'x'", .init(property: "number")), "sqlite3 and other programs"),
      (index("buyer.name == 'x'", .init(property: "number")), "looks at other rows"),
      (index("nothing == 1", .init(property: "number")), "nothing"),
      (index("state ==", .init(property: "number")), "state =="),
      (index("state == $x", .init(property: "number")), "variables"),
      (index(nil, .init(property: "absent")), "names absent"),
    ]
    for (index, word) in cases {
      let schema = try schema([index])
      #expect(schema.warnings.count == 1 && schema.warnings.first?.contains(word) == true, "\(schema.warnings)")
      #expect(schema.warnings.first?.hasPrefix("Order's index byIt isn't made: ") == true)
      #expect(!schema.indexes.contains { $0.name == "Order_byIt" })
    }
  }
}
