import Foundation
import GRDB
import ManagedObjects
import TestSupport
import Testing

@Suite("The tables are for people too")
struct ReadableTableTests {
  @Test("CREATE TABLE says what the model says")
  func createStatements() throws {
    let stack = try CompanyStack(.sqlite)
    let texts = try stack.connection().read { db in
      try String.fetchAll(
        db, sql: "SELECT sql FROM sqlite_master WHERE name IN ('City', 'Person', 'Project_members') ORDER BY name")
    }
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
    try stack.connection().read { db in
      let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM Sample WHERE flag = 1"))
      #expect(row["small"] == -3 && row["large"] == 7 && row["ratio"] == 1.5 && row["text"] == "ümlaut")
      #expect(row["flag"] == 1 && row["uid"] == uid.uuidString.lowercased())
      #expect(row["day"] == "1970-01-02 00:00:00.250000" || row["day"] == "1970-01-02 00:00:00.25")
      #expect(row["instant"] == 86_400)
      #expect(row["amount"] == 12.345678901234)
      #expect(row["bytes"] == Data([1, 2]))
      #expect(row["site"] == "https://example.org/")
      let types = try String.fetchAll(
        db, sql: "SELECT typeof(amount) FROM Sample UNION SELECT typeof(day) FROM Sample WHERE day IS NOT NULL")
      #expect(Set(types) == ["blob", "real", "text"])
      let digits = try String.fetchOne(db, sql: "SELECT CAST(amount AS TEXT) FROM Sample WHERE typeof(amount) = 'blob'")
      #expect(digits == "1234567890123456789012345678901234567.8")
      #expect(try String.fetchOne(db, sql: "SELECT date(day) FROM Sample WHERE flag = 1") == "1970-01-02")
    }
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
    let database = try stack.connection()
    try database.read { db in
      #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
      let rows = try Row.fetchAll(
        db, sql: "SELECT p.name, p.entity, c.name AS employer FROM Person p JOIN Company c ON c.id = p.employer_id ORDER BY 1")
      #expect(rows.map { $0["entity"] as String? } == ["Person", "Manager"])
      #expect(rows.map { $0["employer"] as String? } == ["Acme", "Acme"])
      #expect(try Int.fetchOne(db, sql: "SELECT birthplace_id FROM Person WHERE name = 'Ada'") == 39)
      let pairs = try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM Person_projects JOIN Person ON Person.id = Person_id
          JOIN Project ON Project.id = Project_id
          """)
      #expect(pairs == 2)
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM Person_friends") == 2, "a friendship is two pairs")
    }
    for object in [ada, rome, acme] { context.delete(object) }
    try context.save()
    try database.read { db in
      #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM Person_friends") == 0)
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM Person_visited") == 0)
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM Person_projects") == 1)
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM Note WHERE company_id IS NULL") == 1)
    }
  }

  @Test("rows that another program wrote are read as objects")
  func foreignRows() throws {
    let stack = try CompanyStack(.sqlite)
    try stack.connection().write { db in
      try db.execute(sql: "INSERT INTO Company (id, name) VALUES (70, 'Elsewhere')")
      try db.execute(
        sql: "INSERT INTO Person (id, entity, name, age, employer_id) VALUES (5, 'Manager', 'Eve', 33, 70)")
      try db.execute(sql: "INSERT INTO Sample (id, day, instant, uid) VALUES (1, '2024-02-29T12:00:00Z', 0.5, 'no uuid')")
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
