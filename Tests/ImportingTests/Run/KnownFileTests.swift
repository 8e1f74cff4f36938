import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("A file that was imported before")
struct KnownFileTests {
  private static let text = "code,name,age\na,Ann,1\nb,Bob,x\nc,Cy,3\n"

  private func room(_ kind: StoreKind) throws -> ImportRoom {
    let room = try ImportRoom(kind)
    room.adjust = { $0.skipsKnownFiles = true }
    return room
  }

  @Test("is recognised by all of its bytes, whatever it is called", arguments: StoreKind.allCases)
  func recognised(_ kind: StoreKind) throws {
    let room = try room(kind)
    #expect(try room.run(Self.text, as: "a.csv", batch: 2).tally == "2i 0u 0= 1r 0?")
    try room.reopen()
    let saves = Saves(of: room.coordinator)
    let again = try room.run(Self.text, as: "b.csv", batch: 7, limit: 5, job: "2")
    #expect(again.isFinished && again.counts == ImportCounts() && saves.total == 0)
    let note = try #require(again.notes.first)
    #expect(note.hasPrefix("the same file was imported on 20") && note.hasSuffix("Z as a.csv: nothing was done"))
    #expect(room.rejects("2") == nil)
    // A job that has finished says so once more.
    #expect(try room.run(Self.text, as: "a.csv").tally == "2i 0u 0= 1r 0?")
  }

  @Test("is imported all the same where anything is different, or the recipe doesn't ask")
  func different() throws {
    let room = try room(.memory)
    try room.run(Self.text)
    #expect(try room.run(Self.text + "\n", as: "b.csv", job: "2").counts.records == 3)
    #expect(try room.run(Self.text, job: "3", rules: ["nick": PropertyRule()]).counts.records == 3)
    #expect(try room.run(Self.text, mode: .insert, job: "4").counts.rejected == 3)
    #expect(try room.run("code,name\nDE,Germany\n", as: "c.csv", into: "Country", job: "5").counts.inserted == 1)
    #expect(try room.run("code,name\nDE,Germany\n", as: "c.csv", job: "6").counts.inserted == 1)
    room.adjust = { _ in }
    #expect(try room.run(Self.text, job: "7").counts.unchanged == 2)
    let remembered = try room.count(of: ImportModel.importedEntity)
    try room.run("code,name\nz,Zoe\n", as: "d.csv", job: "8")
    #expect(try room.count(of: ImportModel.importedEntity) == remembered)
  }

  @Test("is none when the import failed, was dry or was stopped", arguments: StoreKind.allCases)
  func unfinished(_ kind: StoreKind) throws {
    let room = try room(kind)
    #expect(throws: MappingError.self) { try room.run(Self.text, limit: 0) }
    room.adjust = { ($0.skipsKnownFiles, $0.isDryRun) = (true, true) }
    try room.run(Self.text, job: "2")
    room.adjust = { $0.skipsKnownFiles = true }
    try room.run(Self.text, batch: 1, job: "3", stopAfter: 1)
    #expect(try room.count(of: ImportModel.importedEntity) == 0)
    #expect(try room.run(Self.text, job: "4").isFinished)
    #expect(try room.count(of: ImportModel.importedEntity) == 1)
    // The one that was stopped continues.
    #expect(try room.run(Self.text, batch: 1, job: "3").counts.records == 3)
  }

  @Test("is known exactly when its import was finished, whenever it is killed", arguments: StoreKind.allCases)
  func killed(_ kind: StoreKind) throws {
    for isWhole in [false, true] {
      try Killing.everyWrite(
        kind,
        furnish: { room in
          room.adjust = { ($0.skipsKnownFiles, $0.atomicity) = (true, isWhole ? .file : .batch) }
        },
        run: { try $0.run(Self.text, batch: 1) },
        traces: { room, end in
          let known = try room.count(of: ImportModel.importedEntity)
          let again = try room.run(Self.text, job: "2").counts
          return try room.rows("code", "name", "age") + ["\(end.counts) \(known) \(again)"]
        })
    }
  }

  @Test("may be a feed", arguments: StoreKind.allCases)
  func feed(_ kind: StoreKind) throws {
    let room = try room(kind)
    try Feed.run(Feed.staff, in: room)
    let again = try Feed.run(Feed.staff, in: room, as: "other.zip", job: "2")
    #expect(again.counts == ImportCounts() && again.notes.first?.contains("as feed.zip: nothing was done") == true)
    #expect(try Feed.run(Feed.clubs, in: room, as: "clubs.zip", job: "3").counts.inserted == 6)
    try Killing.everyWrite(
      kind, furnish: { room in room.adjust = { $0.skipsKnownFiles = true } },
      run: { try Feed.run(Feed.staff, in: $0) },
      traces: { room, end in
        let again = try Feed.run(Feed.staff, in: room, as: "other.zip", job: "2").counts
        #expect(again == ImportCounts())
        return try Feed.Traces(room, end)
      })
  }

  @Test("may be stopped while it is hashed, and then starts again", arguments: StoreKind.allCases)
  func stopped(_ kind: StoreKind) throws {
    let room = try room(kind)
    let text = "code,name\na," + String(repeating: "x", count: 3 << 20) + "\n"
    let end = try room.run(text, stopAtAsking: 2)
    #expect(!end.isFinished && end.counts == ImportCounts() && room.reports.isEmpty)
    #expect(try room.run(text).counts.inserted == 1)
    #expect(try room.count(of: ImportModel.importedEntity) == 1)
  }

  @Test("is remembered until a given number of others has come", arguments: StoreKind.allCases)
  func forgotten(_ kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try Data(Self.text.utf8).write(to: room.file("a.csv"))
    let source = try ImportSource(room.file("a.csv"))
    func file(_ name: String) throws -> KnownFile {
      try KnownFile(
        source, into: name,
        ImportRequest(
          job: name, source: room.file("a.csv"), name: name, entity: name, options: ImportOptions(),
          rejects: room.rejectsFile()))
    }
    for number in 1...5 {
      let context = room.context()
      try file("\(number)").keep(in: context, remembered: 3)
      try context.save()
      // Once more is no other.
      try file("\(number)").keep(in: context, remembered: 3)
      try context.save()
    }
    #expect(try room.count(of: ImportModel.importedEntity) == 3)
    #expect(try file("2").earlierImport(in: room.context()) == nil)
    #expect(try file("3").earlierImport(in: room.context()) != nil)
  }

  // MARK: The hash

  /// From NIST's examples and the long messages of its test vectors.
  @Test(
    "is hashed as FIPS 180-4 says",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
      ),
      (
        String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
      ),
    ])
  func hash(_ text: String, _ expected: String) throws {
    #expect(SHA256.digest(text.utf8).hexadecimal == expected)
    // In pieces of any length.
    let bytes = Array(text.utf8)
    for size in [1, 3, 55, 56, 63, 64, 65, 127, 1_000] where bytes.count < 1_000 || size == 127 {
      var hash = SHA256()
      for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { hash.update($0) }
      }
      #expect(hash.finish().hexadecimal == expected, "pieces of \(size)")
    }
  }
}
