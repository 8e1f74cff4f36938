import ManagedObjects
import Testing

@testable import Importing

@Suite("Keys of any length")
struct LongKeyTests {
  @Test("stand in messages and notes by their beginnings", arguments: StoreKind.allCases)
  func messages(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let long = String(repeating: "k", count: 100_000)
    let text = "code,name,boss\n\(long),Ann,\(long)x\n\(long),Bob,\n"
    let end = try room.run(text, mode: .insert)
    #expect(end.tally == "1i 0u 0= 1r 1?")
    #expect(end.notes.joined().utf8.count < 1_000)
    let missing = PropertyRule { $0.unresolved = .reject }
    let error = try room.failure(
      "code,name,country_code\na,Ann,\(long)\n", as: "b.csv", limit: 0, job: "2", rules: ["country": missing])
    #expect("\(try #require(error))".utf8.count < 1_000)
    let update = try room.failure("code,name\nz\(long),Ann\n", as: "c.csv", mode: .update, limit: 0, job: "3")
    #expect("\(try #require(update))".utf8.count < 1_000)
    // The record itself is whole.
    #expect((room.rejects("2") ?? "").utf8.count > 100_000)
  }

  @Test("of columns are refused or shortened")
  func columns() throws {
    let room = try ImportRoom(.memory)
    let long = String(repeating: "c", count: 100_000)
    let end = try room.run("code,name,\(long)\na,Ann,1\n")
    #expect(end.notes.joined().utf8.count < 1_000)
    let twice = try room.failure("code,\(long),\(long)\na,b,c\n", as: "b.csv", job: "2")
    #expect("\(try #require(twice))".utf8.count < 1_000)
    let wide = String(repeating: "c", count: ReaderOptions.maximumColumnText)
    #expect(
      try room.failure("code,\(wide)\na,b\n", as: "c.csv", job: "3") as? ReaderError
        == .tooManyColumns(limit: ReaderOptions.maximumColumns))
  }
}
