import GRDB
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("The columns that keep an order")
struct OrderColumnTests {
  private let stack: CompanyStack
  private let context: ManagedObjectContext

  init() throws {
    stack = try CompanyStack(.sqlite, model: MusicModel.model)
    context = stack.context()
  }

  private func titles() throws -> [String] { try stack.context().all(Album.self)[0].titles }

  @Test("people read the order with sqlite3")
  func readable() throws {
    let best = try context.album("Best", ["b", "a"])
    best.insert(try context.track("c"), at: 0, in: 1)
    best.artists = [try context.artist("Zoe"), try context.artist("Ada")]
    try context.save()
    #expect(try stack.column("SELECT title FROM Track WHERE album_id = 1 ORDER BY album_position") == ["c", "b", "a"])
    #expect(
      try stack.column(
        "SELECT name FROM Album_artists AS p JOIN Artist AS a ON a.id = p.Artist_id ORDER BY p.artists_position")
        == ["Zoe", "Ada"])
  }

  @Test("moving one of many writes one row")
  func fewWrites() throws {
    let best = try context.album("Best", (0..<200).map { "t\($0)" })
    try context.save()
    let before = try stack.column("SELECT album_position FROM Track ORDER BY id")
    best.moveObjects(at: [150], to: 3, in: 1)
    try context.save()
    let after = try stack.column("SELECT album_position FROM Track ORDER BY id")
    #expect(zip(before, after).filter { $0 != $1 }.count == 1)
    #expect(try titles() == best.titles)
  }

  @Test("objects squeezed into the same gap until there is no room are still in order")
  func squeezed() throws {
    let best = try context.album("Best", ["a", "b"])
    try context.save()
    for number in 0..<30 {
      best.insert(try context.track("n\(number)"), at: 1, in: 1)
      try context.save()
    }
    #expect(best.titles == ["a"] + (0..<30).reversed().map { "n\($0)" } + ["b"])
    #expect(try titles() == best.titles)
  }

  @Test("rows that another program added come last, and stay where they are when others move")
  func strangers() throws {
    let best = try context.album("Best", ["a", "b", "c"])
    try context.save()
    try stack.connection().write { db in
      try db.execute(sql: "INSERT INTO Track (id, entity, title, album_id) VALUES (90, 'Track', 'x', 1)")
    }
    #expect(try titles() == ["a", "b", "c", "x"])
    best.moveObjects(at: [2], to: 0, in: 1)
    try context.save()
    #expect(try titles() == ["c", "x", "a", "b"])
  }

  @Test("a file from before there were such columns gets them, and its rows come by their numbers")
  func olderFile() throws {
    try context.album("Best", ["b", "a"])
    try context.save()
    try stack.coordinator.close()
    try stack.connection().write { db in
      try db.execute(sql: "DROP INDEX Track_album_id_album_position; ALTER TABLE Track DROP COLUMN album_position")
      try db.execute(sql: "ALTER TABLE Album_artists DROP COLUMN artists_position")
    }
    let second = try stack.secondCoordinator()
    let reader = ManagedObjectContext(.confinement, coordinator: second)
    let best = try #require(try reader.all(Album.self).first)
    #expect(Set(best.titles) == ["a", "b"])
    best.tracks.reverse()
    try reader.save()
    #expect(try stack.column("SELECT title FROM Track ORDER BY album_position") == best.titles)
  }
}
