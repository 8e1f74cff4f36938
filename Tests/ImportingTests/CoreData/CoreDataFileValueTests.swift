import CSQLite
import Foundation
import Glibc
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@testable import Importing

@Suite("Importing values in files beside a Core Data store")
struct CoreDataFileValueTests {
  /// A store of photos, each with a reference to a file of this name, without a model in it.
  private static func room(_ names: [String]) throws -> CoreDataRoom {
    var image = AttributeDefinition("image", .binaryData)
    image.allowsExternalBinaryDataStorage = true
    let rows = names.enumerated().map { number, name in
      "(\(number + 1), 1, 1, x'02\(name.utf8.map { String(format: "%02x", $0) }.joined())00')"
    }
    return try CoreDataRoom(
      """
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Photo', 0, \(names.count));
      CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZIMAGE BLOB);
      INSERT INTO ZPHOTO VALUES \(rows.joined(separator: ", "));
      """, [EntityDefinition("Photo", attributes: [image])])
  }

  private static func folder(_ room: CoreDataRoom) throws -> URL {
    let folder = room.folder.file(".App_SUPPORT").appendingPathComponent("_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private static let large = Data(repeating: 5, count: 200_000)

  @Test("takes the bytes, which become a file of the importing store, and changes nothing the second time")
  func taken() throws {
    let name = UUID().uuidString
    let room = try Self.room([name])
    try Self.large.write(to: Self.folder(room).appendingPathComponent(name))
    let result = try room.run()
    #expect(result.isFinished && result.inserted == 1 && result.rejected == 0, "\(result.notes)")
    #expect(try room.rows("Photo", "image") == [Self.large.base64EncodedString()])
    let ours = room.folder.file(".ours.sqlite_SUPPORT/_EXTERNAL_DATA")
    #expect(try FileManager.default.contentsOfDirectory(atPath: ours.path).count == 1)
    #expect(try room.run().unchanged == 1)
  }

  @Test("rejects records whose file is missing, a link, too long, or named by something else, with the reason")
  func rejected() throws {
    let names = (0..<4).map { _ in UUID().uuidString } + ["../../../etc/passwd"]
    let room = try Self.room(names)
    let folder = try Self.folder(room)
    try Data([1, 2]).write(to: folder.appendingPathComponent(names[0]))
    try FileManager.default.createSymbolicLink(
      atPath: folder.appendingPathComponent(names[1]).path, withDestinationPath: "/etc/passwd")
    try Data().write(to: folder.appendingPathComponent(names[2]))
    #expect(truncate(folder.appendingPathComponent(names[2]).path, 20 << 20) == 0)
    let result = try room.run()
    #expect((result.inserted, result.rejected) == (1, 4), "\(result.notes)")
    #expect(try room.rows("Photo", "image") == ["AQI="])
    let rejects = try String(
      contentsOf: room.source.appendingPathExtension("rejects").appendingPathComponent("Photo.ndjson"), encoding: .utf8)
    for text in ["is a link", "record_too_long", "\(names[3]), which isn't there", "isn't one"] {
      #expect(rejects.contains(text), "\(text)")
    }
  }

  @Test("refuses the function that reads files to queries of other people")
  func otherQueries() throws {
    let name = UUID().uuidString
    let room = try Self.room([name])
    try Self.large.write(to: Self.folder(room).appendingPathComponent(name))
    var photos = FileImport(into: "Photo", of: room.coordinator)
    photos.options.reading = [
      "format": "sqlite", "query": "SELECT Z_PK AS storeRow, lade_core_data(ZIMAGE) AS image FROM ZPHOTO",
    ]
    #expect(throws: (any Error).self) { try photos.run(room.source) }
  }
}
