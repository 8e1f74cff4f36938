import GRDB
import ManagedObjects
import Testing

@testable import Importing

@Suite("Objects that another writer deletes while they are referred to")
struct VanishedTargetTests {
  @Sendable private static func deleteGermany(_ context: ManagedObjectContext) throws {
    let request = FetchRequest<ManagedObject>(entityName: "Country", predicate: .equal("code", .string("DE")))
    for country in try context.fetch(request) { context.delete(country) }
  }

  @Test(
    "are looked for again, and lead nowhere then", arguments: StoreKind.allCases, [ImportMode.insert, .upsert])
  func remembered(kind: StoreKind, mode: ImportMode) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR"])
    let text = "code,name,country_code\na,Ann,DE\nb,Bob,FR\nc,Cy,DE\nd,Di,FR\n"
    // In the second batch the country is found among those that are remembered from the first.
    let end = try room.run(text, mode: mode, batch: 2) { progress in
      if progress.counts.records == 2 { room.intrude(Self.deleteGermany) }
    }
    #expect(end.tally == "4i 0u 0= 0r 1?")
    #expect(try room.rows("code", "country.code") == ["a|", "b|FR", "c|", "d|FR"])
  }

  @Test("by another program, too", arguments: [ImportMode.insert, .upsert])
  func anotherProgram(mode: ImportMode) throws {
    let room = try ImportRoom(.sqlite)
    try room.furnish(countries: ["DE", "FR"])
    let text = "code,name,country_code\na,Ann,DE\nb,Bob,FR\nc,Cy,DE\nd,Di,FR\ne,Ed,FR\nf,Fi,DE\n"
    let end = try room.run(text, mode: mode, batch: 2) { progress in
      guard progress.counts.records == 2 else { return }
      #expect(throws: Never.self) {
        try DatabaseQueue(path: room.database.path).write { db in
          try db.execute(sql: "UPDATE Person SET country_id = NULL WHERE code = 'a'")
          try db.execute(sql: "DELETE FROM Country WHERE code = 'DE'")
        }
      }
    }
    #expect(end.tally == "6i 0u 0= 0r 2?")
    #expect(try room.rows("code", "country.code") == ["a|", "b|FR", "c|", "d|FR", "e|FR", "f|"])
    let broken = try DatabaseQueue(path: room.database.path).read {
      try Row.fetchAll($0, sql: "PRAGMA foreign_key_check")
    }
    #expect(broken.isEmpty)
  }

  @Test("of references that waited for the end of the file, too", arguments: StoreKind.allCases)
  func waiting(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,boss\na,Ann,c\nb,Bob,\nc,Cy,\nd,Di,\n"
    let end = try room.run(text, batch: 2) { progress in
      guard progress.counts.records == 4 else { return }
      room.intrude { context in
        let request = FetchRequest<ManagedObject>(entityName: "Person", predicate: .equal("code", .string("c")))
        for person in try context.fetch(request) { context.delete(person) }
      }
    }
    #expect(end.tally == "4i 0u 0= 0r 1?")
    #expect(try room.rows("code", "boss.code") == ["a|", "b|", "d|"])
  }
}
