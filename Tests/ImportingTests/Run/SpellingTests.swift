import ManagedObjects
import Testing

@testable import Importing

/// é as one scalar, and as e with an accent: the same to Swift, and not to a store.
@Suite("Texts that look alike")
struct SpellingTests {
  private static let short = "\u{E9}"
  private static let long = "e\u{301}"

  @Test("are different keys to references, whatever stands beside them", arguments: StoreKind.allCases, [1, 2, 100])
  func references(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: [Self.short])
    let text = "code,name,country_code\na,Ann,\(Self.long)\nb,Bob,\(Self.short)\nc,Cy,\(Self.long)\n"
    #expect(try room.run(text, batch: batch).tally == "3i 0u 0= 0r 2?")
    #expect(try room.rows("code", "country.code") == ["a|", "b|\(Self.short)", "c|"])
    try room.furnish(countries: [Self.long])
    #expect(try room.run(text, batch: batch, job: "2").tally == "0i 2u 1= 0r 0?")
    let lengths = try room.rows("code", "country.code").map { $0.utf8.count }
    #expect(lengths == [5, 4, 5])
  }

  @Test("are different values: an object takes the new spelling", arguments: StoreKind.allCases)
  func values(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    #expect(try room.run("code,name\na,\(Self.short)\n").tally == "1i 0u 0= 0r 0?")
    let text = "code,name\na,\(Self.long)\n"
    #expect(try room.run(text, as: "b.csv", job: "2").tally == "0i 1u 0= 0r 0?")
    #expect(try room.rows("name").map { Array($0.utf8) } == [Array(Self.long.utf8)])
    #expect(try room.run(text, as: "b.csv", job: "3").tally == "0i 0u 1= 0r 0?")
  }

  @Test("are different records: each has its object, whatever the batch", arguments: StoreKind.allCases, [1, 100])
  func keys(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "code,name\n\(Self.short),Ann\n\(Self.long),Bob\n"
    #expect(try room.run(text, batch: batch).tally == "2i 0u 0= 0r 0?")
    #expect(try room.rows("name") == ["Ann", "Bob"])
  }
}
