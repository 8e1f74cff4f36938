import Foundation
import GRDB
import ManagedObjects
import SQLSchema
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

@Suite("The order of decimals")
struct DecimalOrderTests {
  private static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Bill", attributes: [AttributeDefinition("total", .decimal), AttributeDefinition("tax", .decimal)],
          indexes: [FetchIndexDefinition("byTotal", elements: [.init(property: "total")])])
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  private func insert(_ totals: [String], _ context: ManagedObjectContext) throws {
    for total in totals {
      let bill = try context.insert("Bill")
      for key in ["total", "tax"] { try bill.setValue(Decimal(string: total).map(Value.decimal) ?? .null, forKey: key) }
    }
    try context.save()
  }

  @Test("is the same with and without digits that no double has, indexed or not", arguments: StoreKind.allCases)
  func order(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    func totals(_ key: String, ascending: Bool = true, limit: Int = 0) throws -> [String] {
      let request = FetchRequest<ManagedObject>(
        entityName: "Bill", sortDescriptors: [FetchSortDescriptor(key, ascending: ascending)], fetchLimit: limit)
      let ids = try stack.context().fetchIDs(request)
      let found = try stack.context().fetch(request)
      #expect(found.map(\.objectID) == ids)
      return found.map { $0.value(forKey: key)?.plainText ?? "" }
    }
    try insert(["10", "9.5", "-3", "none", "0.1", "100000000000000000000"], stack.context())
    for key in ["total", "tax"] {
      #expect(try totals(key) == ["", "-3", "0.1", "9.5", "10", "100000000000000000000"])
      #expect(try totals(key, ascending: false, limit: 2) == ["100000000000000000000", "10"])
    }
    try insert(["9.7500000000000000001", "-12345678901234567890.5"], stack.context())
    for key in ["total", "tax"] {
      #expect(
        try totals(key) == [
          "", "-12345678901234567890.5", "-3", "0.1", "9.5", "9.7500000000000000001", "10", "100000000000000000000",
        ])
      #expect(try totals(key, ascending: false, limit: 3) == ["100000000000000000000", "10", "9.7500000000000000001"])
    }
  }

  @Test("comes from an index while all are numbers")
  func index() throws {
    let schema = try SchemaMap(model: Self.model)
    let entity = try #require(Self.model.entitiesByName["Bill"])
    let compiler = SQLCompiler(schema)
    func fetch(_ key: String) throws -> StoreFetch {
      StoreFetch(entity: entity, sort: [try FetchSortDescriptor(key).resolved(in: entity)], limit: 5)
    }
    #expect(compiler.decimalOrder(try fetch("tax")) == nil)
    let order = try #require(compiler.decimalOrder(try fetch("total")))
    let queue = try DatabaseQueue()
    try queue.write { db in
      for statement in schema.createStatements { try db.execute(sql: statement) }
      func plan(_ sql: String, _ arguments: StatementArguments = []) throws -> String {
        try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: arguments).map { $0["detail"] ?? "" }
          .joined(separator: "; ")
      }
      let query = try compiler.select(try fetch("total"), columns: ["id"], numbers: [order.attribute])
      let sorted = try plan(query.sql, StatementArguments(query.arguments))
      #expect(sorted.contains("Bill_byTotal") && !sorted.contains("TEMP B-TREE"))
      #expect(try plan(order.sql).contains("Bill_byTotal (total>?)"))
    }
  }
}
