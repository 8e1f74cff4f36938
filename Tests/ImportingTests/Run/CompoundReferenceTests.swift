import ManagedObjects
import Testing

@testable import Importing

@Suite("References by several columns")
struct CompoundReferenceTests {
  private func room(_ kind: StoreKind) throws -> ImportRoom {
    let room = try ImportRoom(kind)
    try room.run("row,number,price\n1,1,10\n1,2,20\n2,1,30\n", as: "s.csv", into: "Seat", job: "s")
    try room.run("station,at,level\nN,2024-03-01T06:00:00Z,1.5\n", as: "r.csv", into: "Reading", job: "r")
    return room
  }

  private static let seat = PropertyRule { $0.keys = ["row", "number"] }

  @Test(
    "find their objects, and are left empty where there is none or a part is null", arguments: StoreKind.allCases,
    [
      1, 2, 100,
    ])
  func finds(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    let text = "code,part,row,number\nA,1,1,2\nA,2,2,1\nB,1,9,9\nB,2,1,\nC,1,,\n"
    let end = try room.run(text, into: "Booking", batch: batch, job: "1", rules: ["seat": Self.seat])
    #expect(end.tally == "5i 0u 0= 0r 1?")
    #expect(
      try room.rows("code", "part", "seat.price", of: "Booking") == ["A|1|20", "A|2|30", "B|1|", "B|2|", "C|1|"])
    #expect(end.notes == ["1 reference(s) of seat lead nowhere and were left empty, such as “9, 9”"])
    let again = try room.run(
      "code,part,row,number\nA,1,1,2\nA,2,1,1\nB,2,1,1\nC,1,,\n", as: "b.csv", into: "Booking", batch: batch, job: "2",
      rules: ["seat": Self.seat])
    #expect(again.tally == "0i 2u 2= 0r 0?")
    #expect(
      try room.rows("code", "part", "seat.price", of: "Booking") == ["A|1|20", "A|2|10", "B|1|", "B|2|10", "C|1|"])
  }

  @Test("reject records, where the recipe says so", arguments: StoreKind.allCases, [1, 100])
  func rejects(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    var rule = Self.seat
    rule.unresolved = .reject
    rule.columns = ["r", "n"]
    let end = try room.run(
      "code,part,r,n\nA,1,1,2\nB,1,9,9\nC,1,x,1\nD,1,,1\n", into: "Booking", batch: batch, rules: ["seat": rule])
    #expect(end.tally == "2i 0u 0= 2r 0?")
    #expect(room.refusals() == ["3,seat,no_such_object", "4,seat,not_an_integer"])
    #expect(try #require(room.rejects()).contains("no Seat with row, number “9, 9”"))
    #expect(try room.rows("code", "seat.price", of: "Booking") == ["A|20", "D|"])
  }

  @Test("read each part in the notation that is meant for it", arguments: StoreKind.allCases)
  func notation(kind: StoreKind) throws {
    let room = try room(kind)
    let rule = PropertyRule {
      ($0.keys, $0.columns, $0.dateFormat) = (["station", "at"], ["st", "time"], "dd.MM.yyyy HH:mm")
    }
    let end = try room.run(
      "code,part,st,time\nA,1,N,01.03.2024 06:00\nA,2,N,01.03.2024 07:00\n", into: "Booking", rules: ["reading": rule])
    #expect(end.tally == "2i 0u 0= 0r 1?")
    #expect(try room.rows("part", "reading.level", of: "Booking") == ["1|1.5", "2|"])
    // The station is a text, the part a number.
    let own = PropertyRule {
      ($0.keys, $0.columns, $0.unit, $0.negatives) = (["code", "part"], ["bc", "bp"], "#", .parentheses)
    }
    let second = try room.run(
      "code,part,bc,bp\nB,1,A,# 2\n", as: "b.csv", into: "Booking", job: "2", rules: ["before": own])
    #expect(second.tally == "1i 0u 0= 0r 0?")
  }

  @Test("make objects that have the parts", arguments: StoreKind.allCases, [1, 100])
  func creates(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    var rule = Self.seat
    rule.creates = true
    let end = try room.run(
      "code,part,row,number\nA,1,7,8\nA,2,7,8\nA,3,1,1\n", into: "Booking", batch: batch, rules: ["seat": rule])
    #expect(end.counts.created == ["seat": 1])
    #expect(try room.rows("part", "seat.row", "seat.number", of: "Booking") == ["1|7|8", "2|7|8", "3|1|1"])
    #expect(try room.count(of: "Seat") == 4)
  }

  @Test("leave an object alone where a record lacks a part", arguments: StoreKind.allCases)
  func absent(kind: StoreKind) throws {
    let room = try room(kind)
    let rules = ["seat": Self.seat]
    try room.run("code,part,row,number\nA,1,1,2\nB,1,1,2\n", into: "Booking", job: "1", rules: rules)
    let text = "[{\"code\":\"A\",\"part\":1,\"row\":2},{\"code\":\"B\",\"part\":1,\"row\":2,\"number\":1}]"
    #expect(
      try room.run(text, as: "b.json", into: "Booking", job: "2", rules: rules).tally == "0i 1u 1= 0r 0?")
    #expect(try room.rows("code", "seat.price", of: "Booking") == ["A|20", "B|30"])
  }

  private static let own = "code,part,bc,bp\nA,1,A,2\nA,2,B,1\nB,1,B,1\nB,2,Z,1\nC,1,A,1\n"

  @Test(
    "find later records of the file, and leave what one run leaves at whichever write it is killed",
    arguments: StoreKind.allCases, [PropertyRule.Unresolved.leave, .reject])
  func killed(kind: StoreKind, unresolved: PropertyRule.Unresolved) throws {
    let rule = PropertyRule {
      ($0.keys, $0.columns, $0.unresolved) = (["code", "part"], ["bc", "bp"], unresolved)
    }
    for batch in [1, 2, 100] {
      try Killing.everyWrite(
        kind,
        run: { try $0.run(Self.own, into: "Booking", batch: batch, rules: ["before": rule]) },
        traces: { room, end in
          let rows = try room.rows("code", "part", "before.code", "before.part", of: "Booking")
          let left = unresolved == .leave
          #expect(end.tally == (left ? "5i 0u 0= 0r 1?" : "4i 0u 0= 1r 0?"))
          #expect(rows == ["A|1|A|2", "A|2|B|1", "B|1|B|1"] + (left ? ["B|2||"] : []) + ["C|1|A|1"])
          return [rows, [room.rejects() ?? ""], [String(try room.count(of: ImportModel.referenceEntity))]]
        })
    }
  }

  @Test("are refused where they can't be followed, with the reason")
  func refused() throws {
    let entity = try #require(StaffModel.model.get().entitiesByName["Booking"])
    func problems(_ name: String, _ change: (inout PropertyRule) -> Void) -> [String] {
      var rule = PropertyRule()
      change(&rule)
      do throws(MappingError) {
        try MappingOptions { $0.properties = [name: rule] }.check(against: entity)
        return []
      } catch {
        guard case .badRules(_, let problems) = error else { return ["\(error)"] }
        return problems
      }
    }
    #expect(problems("seat") { $0.keys = ["row", "number"] }.isEmpty)
    #expect(
      problems("seat") { $0.keys = ["row", "nummer"] }
        == ["Booking.seat: the recipe's key names nummer, which isn't an attribute of Seat"])
    for names in [[], ["row"], ["row", "row"]] {
      #expect(
        problems("seat") { $0.keys = names }
          == ["Booking.seat: the recipe's key must name several attributes, each once"])
    }
    #expect(
      problems("seat") { ($0.keys, $0.columns) = (["row", "number"], ["a", "b", "c"]) }
        == ["seat's key has 2 attributes (row, number): name as many columns, in that order"])
    #expect(
      problems("seat") { ($0.keys, $0.constant) = (["row", "number"], "1") }
        == ["seat's constant can't go with a key of several attributes: leave it out"])
    #expect(
      problems("seats") { $0.keys = ["row", "number"] }
        == ["seats's key names several attributes, which is for to-one relationships, and seats is to-many"])
    #expect(
      problems("text") { $0.columns = ["a", "b"] } == [
        "text has several columns, which is for relationships whose key has as many attributes: name these as its key"
      ])
  }
}
