import ManagedObjects
import Testing

@testable import Importing

@Suite("Records that refer to an object whose set has rules")
struct OwnerRuleTests {
  /// Teams of two players at most, boards of one member at least, and parts of which two are in a whole.
  private static func model() throws -> ManagedObjectModel {
    func entity(
      _ name: String, _ relationships: [RelationshipDefinition]
    ) -> EntityDefinition {
      EntityDefinition(
        name, attributes: [AttributeDefinition("code", .string, isOptional: false)], relationships: relationships,
        uniquenessConstraints: [["code"]])
    }
    func reference(_ name: String, to destination: String, inverse: String) -> RelationshipDefinition {
      RelationshipDefinition(name, to: destination, inverse: inverse, userInfo: ["relatedByAttribute": "code"])
    }
    return try ImportModel.adding(
      to: ManagedObjectModel(entities: [
        entity(
          "Team", [RelationshipDefinition("players", to: "Player", inverse: "team", isToMany: true, maximumCount: 2)]),
        entity("Player", [reference("team", to: "Team", inverse: "players")]),
        entity(
          "Board",
          [RelationshipDefinition("members", to: "Member", inverse: "board", isToMany: true, isOptional: false)]),
        entity("Member", [reference("board", to: "Board", inverse: "members")]),
        entity(
          "Part",
          [
            reference("whole", to: "Part", inverse: "parts"),
            RelationshipDefinition("parts", to: "Part", inverse: "whole", isToMany: true, maximumCount: 2),
          ]),
      ]))
  }

  private func room(_ kind: StoreKind) throws -> ImportRoom {
    let room = try ImportRoom(kind, model: Self.model())
    try room.run("code\nreds\nblues\n", as: "teams.csv", into: "Team", job: "teams")
    return room
  }

  @Test(
    "are rejected when it is full, and the others of their batch are imported", arguments: StoreKind.allCases,
    [1, 3, 100])
  func full(kind: StoreKind, batch: Int) throws {
    for mode in [ImportMode.insert, .upsert] {
      let room = try room(kind)
      let text = "code,team\na,reds\nb,blues\nc,reds\nd,reds\ne,\nf,reds\ng,blues\n"
      let end = try room.run(text, into: "Player", mode: mode, batch: batch, job: "1")
      #expect(end.tally == "5i 0u 0= 2r 0?")
      #expect(room.refusals("1") == ["5,team,too_many_objects", "7,team,too_many_objects"])
      #expect(room.rejects("1")?.contains("Team “reds” isn't valid with this record") == true)
      #expect(
        try room.rows("code", "team.code", of: "Player") == ["a|reds", "b|blues", "c|reds", "e|", "g|blues"])
    }
  }

  @Test(
    "are rejected when it is full by rows of earlier imports, and not when others have left it",
    arguments: StoreKind.allCases, [1, 100])
  func moved(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    try room.run("code,team\na,reds\nb,reds\nc,blues\n", as: "1.csv", into: "Player", job: "1")
    let end = try room.run(
      "code,team\nc,reds\na,\nd,reds\n", as: "2.csv", into: "Player", mode: .upsert, batch: batch, job: "2")
    // It comes while a is still there.
    #expect(room.refusals("2") == ["2,team,too_many_objects"])
    #expect(end.tally == "1i 1u 0= 1r 0?")
    #expect(try room.rows("code", "team.code", of: "Player") == ["a|", "b|reds", "c|blues", "d|reds"])
  }

  @Test("are rejected when they would leave too few", arguments: StoreKind.allCases, [1, 100])
  func few(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    let context = room.context()
    let (board, member) = (try context.insert("Board"), try context.insert("Member"))
    try board.setValue(.string("b"), forKey: "code")
    try member.setValue(.string("m"), forKey: "code")
    try member.setValue(.object(board.objectID), forKey: "board")
    try context.save()
    let end = try room.run("code,board\nm,\nn,\n", into: "Member", mode: .upsert, batch: batch, job: "1")
    #expect(end.tally == "1i 0u 0= 1r 0?")
    #expect(room.refusals("1") == ["2,board,too_few_objects"])
    // Another takes the place.
    let next = try room.run(
      "code,board\no,b\nm,\n", as: "2.csv", into: "Member", mode: .upsert, batch: batch, job: "2")
    #expect(next.tally == "1i 1u 0= 0r 0?")
    #expect(try room.rows("code", "board.code", of: "Member") == ["m|", "n|", "o|b"])
  }

  @Test(
    "keep an empty reference when the object comes later in the file and is full then", arguments: StoreKind.allCases)
  func late(kind: StoreKind) throws {
    let room = try room(kind)
    let text = "code,whole\na,w\nb,w\nc,w\nd,v\nw,\nv,\n"
    let end = try room.run(text, into: "Part", batch: 1, job: "1")
    #expect(end.tally == "6i 0u 0= 0r 1?")
    #expect(
      end.notes == [
        "1 reference(s) of whole can't be set (Part.parts has more than 2 objects) and were left empty, such as “w”"
      ]
    )
    #expect(
      try room.rows("code", "whole.code", of: "Part") == ["a|w", "b|w", "c|", "d|v", "v|", "w|"])
    // In the same batch.
    let together = try self.room(kind)
    #expect(try together.run(text, into: "Part", batch: 100, job: "1").tally == "5i 0u 0= 1r 0?")
    #expect(together.refusals("1") == ["4,whole,too_many_objects"])
  }

  @Test("are asked when a batch is saved: what is right by then is accepted", arguments: StoreKind.allCases, [1, 100])
  func chain(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    let context = room.context()
    let (board, member) = (try context.insert("Board"), try context.insert("Member"))
    try board.setValue(.string("b"), forKey: "code")
    try member.setValue(.string("m"), forKey: "code")
    try member.setValue(.object(board.objectID), forKey: "board")
    try context.save()
    // m leaves, and o takes the place afterwards.
    let end = try room.run("code,board\nm,\no,b\n", into: "Member", mode: .upsert, batch: batch, job: "1")
    #expect(end.tally == (batch == 1 ? "1i 0u 0= 1r 0?" : "1i 1u 0= 0r 0?"))
    #expect(room.refusals("1") == (batch == 1 ? ["2,board,too_few_objects"] : []))
    #expect(
      try room.rows("code", "board.code", of: "Member") == (batch == 1 ? ["m|b", "o|b"] : ["m|", "o|b"]))
  }

  @Test("are rejected one by one in a file that is committed as a whole, too", arguments: StoreKind.allCases)
  func whole(kind: StoreKind) throws {
    let room = try room(kind)
    room.adjust = { $0.atomicity = .file }
    let end = try room.run("code,team\na,reds\nb,reds\nc,reds\n", into: "Player", batch: 2, job: "1")
    #expect(end.tally == "2i 0u 0= 1r 0?")
    #expect(room.refusals("1") == ["4,team,too_many_objects"])
  }
}
