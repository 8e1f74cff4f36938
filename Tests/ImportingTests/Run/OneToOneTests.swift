import ManagedObjects
import Testing

@testable import Importing

@Suite("One-to-one relationships between two entities")
struct OneToOneTests {
  private static func model() throws -> ManagedObjectModel {
    func entity(_ name: String, _ reference: String, to other: String, inverse: String) -> EntityDefinition {
      EntityDefinition(
        name, attributes: [AttributeDefinition("code", .string, isOptional: false)],
        relationships: [
          RelationshipDefinition(reference, to: other, inverse: inverse, userInfo: ["relatedByAttribute": "code"])
        ], uniquenessConstraints: [["code"]])
    }
    return try ImportModel.adding(
      to: ManagedObjectModel(entities: [
        entity("Desk", "clerk", to: "Clerk", inverse: "desk"), entity("Clerk", "desk", to: "Desk", inverse: "clerk"),
      ]))
  }

  private func ends(_ room: ImportRoom) throws -> [[String]] {
    [try room.rows("code", "desk.code", of: "Clerk"), try room.rows("code", "clerk.code", of: "Desk")]
  }

  @Test(
    "are set at both ends by new records of either", arguments: StoreKind.allCases,
    [ImportMode.insert, .upsert, .synchronise])
  func bothEnds(kind: StoreKind, mode: ImportMode) throws {
    for batch in [1, 2, 100] {
      let room = try ImportRoom(kind, model: Self.model())
      try room.run("code\n1\n2\n3\n", as: "desks.csv", into: "Desk", batch: batch, job: "1")
      let end = try room.run("code,desk\na,1\nb,2\nc,\n", into: "Clerk", mode: mode, batch: batch, job: "2")
      #expect(end.tally == "3i 0u 0= 0r 0?")
      #expect(try ends(room) == [["a|1", "b|2", "c|"], ["1|a", "2|b", "3|"]])
      // The other end, in new records of its own. b leaves its desk for it.
      try room.run("code,clerk\n4,c\n5,b\n", as: "more.csv", into: "Desk", batch: batch, job: "3")
      #expect(try ends(room) == [["a|1", "b|5", "c|4"], ["1|a", "2|", "3|", "4|c", "5|b"]])
    }
  }

  @Test("belong to the last record that says so", arguments: StoreKind.allCases, [ImportMode.insert, .upsert])
  func last(kind: StoreKind, mode: ImportMode) throws {
    for batch in [1, 2, 100] {
      let room = try ImportRoom(kind, model: Self.model())
      try room.run("code\n1\n2\n", as: "desks.csv", into: "Desk", batch: batch, job: "1")
      let end = try room.run("code,desk\na,1\nb,1\nc,2\nd,1\n", into: "Clerk", mode: mode, batch: batch, job: "2")
      #expect(end.tally == "4i 0u 0= 0r 0?")
      #expect(try ends(room) == [["a|", "b|", "c|2", "d|1"], ["1|d", "2|c"]])
      try room.run("code,desk\ne,2\n", as: "late.csv", into: "Clerk", mode: mode, batch: batch, job: "3")
      #expect(try ends(room) == [["a|", "b|", "c|", "d|1", "e|2"], ["1|d", "2|e"]])
    }
  }
}
