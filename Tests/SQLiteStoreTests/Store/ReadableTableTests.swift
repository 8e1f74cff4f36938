import Foundation
import GRDB
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("The tables are for people too")
struct ReadableTableTests {
  @Test("CREATE TABLE says what the model says")
  func createStatements() throws {
    let stack = try CompanyStack(.sqlite)
    let texts = try stack.column("SELECT sql FROM sqlite_master WHERE name IN ('City', 'Person') ORDER BY name")
    #expect(
      texts == [
        """
        CREATE TABLE "City" (
          "code" INTEGER PRIMARY KEY,
          "name" TEXT
        )
        """,
        """
        CREATE TABLE "Person" (
          "id" INTEGER PRIMARY KEY,
          "entity" TEXT NOT NULL,
          "name" TEXT NOT NULL,
          "email" TEXT,
          "age" INTEGER,
          "budget" NUMERIC,
          "employer_id" INTEGER REFERENCES "Company"("id") DEFERRABLE INITIALLY DEFERRED,
          "desk_id" INTEGER REFERENCES "Desk"("id") DEFERRABLE INITIALLY DEFERRED,
          "birthplace_id" INTEGER REFERENCES "City"("code") DEFERRABLE INITIALLY DEFERRED
        )
        """,
      ])
  }

  @Test("values stand in the columns as anybody would write them")
  func values() throws {
    let stack = try CompanyStack(.sqlite)
    let context = stack.context()
    let sample = try context.insert(Sample.self)
    let uid = UUID()
    let values: [String: Value] = [
      "small": .int(-3), "ratio": .double(1.5), "text": .string("ümlaut"), "flag": .bool(true), "uid": .uuid(uid),
      "day": .date(Date(timeIntervalSince1970: 86_400.25)), "instant": .date(Date(timeIntervalSince1970: 86_400)),
      "amount": .decimal(try #require(Decimal(string: "12.345678901234"))), "bytes": .data(Data([1, 2])),
      "site": .uri(try #require(URL(string: "https://example.org/"))),
    ]
    for (name, value) in values { try sample.setValue(value, forKey: name) }
    let long = try context.insert(Sample.self)
    long.amount = Decimal(string: "1234567890123456789012345678901234567.8")
    try context.save()
    func stored(_ column: String) throws -> [String] {
      try stack.column("SELECT \(column) FROM Sample WHERE flag = 1")
    }
    #expect(try stored("small || ' ' || large || ' ' || ratio || ' ' || text") == ["-3 7 1.5 ümlaut"])
    #expect(try stored("flag || ' ' || uid") == ["1 \(uid.uuidString.lowercased())"])
    #expect(try stored("day") == ["1970-01-02 00:00:00.25"])
    #expect(try stored("date(day)") == ["1970-01-02"])
    #expect(try stored("instant") == ["86400"])
    #expect(try stored("amount") == ["12.345678901234"])
    #expect(try stored("hex(bytes)") == ["0102"])
    #expect(try stored("site") == ["https://example.org/"])
    #expect(try stored("typeof(amount) || typeof(day) || typeof(instant)") == ["realtextinteger"])
    #expect(
      try stack.column("SELECT CAST(amount AS TEXT) FROM Sample WHERE typeof(amount) = 'blob'")
        == ["1234567890123456789012345678901234567.8"])
  }

  @Test("references are foreign keys that hold, and the entity's name stands in its column")
  func foreignKeys() throws {
    let stack = try CompanyStack(.sqlite)
    let context = stack.context()
    let acme = try context.company("Acme")
    let boss = try context.insert(Manager.self)
    boss.name = "Boss"
    boss.employer = acme
    let (ada, red, rome) = (try context.person("Ada"), try context.insert(Project.self), try context.city(39, "Rome"))
    ada.employer = acme
    red.members = [ada, boss]
    ada.friends = [boss]
    ada.birthplace = rome
    ada.visited = [rome]
    let note = try context.insert(Note.self)
    note.company = acme
    try context.save()
    #expect(try stack.column("PRAGMA foreign_key_check").isEmpty)
    let employees = """
      SELECT p.name || ' ' || p.entity || ' ' || c.name FROM Person p JOIN Company c ON c.id = p.employer_id ORDER BY 1
      """
    #expect(try stack.column(employees) == ["Ada Person Acme", "Boss Manager Acme"])
    #expect(try stack.column("SELECT birthplace_id FROM Person WHERE name = 'Ada'") == ["39"])
    let pairs = """
      SELECT Person.name FROM Person_projects JOIN Person ON Person.id = Person_id
      JOIN Project ON Project.id = Project_id ORDER BY 1
      """
    #expect(try stack.column(pairs) == ["Ada", "Boss"])
    #expect(try stack.column("SELECT count(*) FROM Person_friends") == ["2"], "a friendship is two pairs")

    for object in [ada, rome, acme] { context.delete(object) }
    try context.save()
    #expect(try stack.column("PRAGMA foreign_key_check").isEmpty)
    #expect(try stack.column("SELECT count(*) FROM Person_friends") == ["0"])
    #expect(try stack.column("SELECT count(*) FROM Person_visited") == ["0"])
    #expect(try stack.column(pairs) == ["Boss"])
    #expect(try stack.column("SELECT company_id FROM Note") == ["NULL"])
  }

  @Test("rows that another program wrote are read as objects")
  func foreignRows() throws {
    let stack = try CompanyStack(.sqlite)
    try stack.connection().write { db in
      try db.execute(sql: "INSERT INTO Company (id, name) VALUES (70, 'Elsewhere')")
      try db.execute(
        sql: "INSERT INTO Person (id, entity, name, age, employer_id) VALUES (5, 'Manager', 'Eve', 33, 70)")
      try db.execute(
        sql: "INSERT INTO Sample (id, day, instant, uid) VALUES (1, '2024-02-29T12:00:00Z', 0.5, 'no uuid')")
    }
    let context = stack.context()
    let eve = try #require(try context.named("Eve", Manager.self))
    #expect(eve.age == 33 && eve.employer?.employees == [eve])
    let sample = try #require(try context.all(Sample.self).first)
    #expect(sample.day == Date(timeIntervalSince1970: 1_709_208_000))
    #expect(sample.instant == Date(timeIntervalSince1970: 0.5))
    let new = try context.person("New")
    try context.save()
    #expect("\(new.objectID)".hasSuffix("/p6"), "numbered after what is there")
  }
}
