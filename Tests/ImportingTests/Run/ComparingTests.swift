import Foundation
import ManagedObjects
import Synchronization
import Testing

@testable import Importing

/// A store in memory has no way of its own to compare rows: there each becomes an object, by which the others are judged.
@Suite("Records that are compared with the store's rows")
struct ComparingTests {
  private static let columns = ["id", "label", "level", "isOn", "at", "cost", "size", "grade", "site.code"]

  /// A file of gauges: of numbers that lie close together or far apart, some twice, some with values that can't be.
  private static func gauges(_ dice: inout Lot, _ count: Int, spread: Int, hasSites: Bool = false) -> String {
    var text = "id,label,level,isOn,at,cost,size,grade" + (hasSites ? ",site\n" : "\n")
    for _ in 0..<count {
      let id = dice.draw(spread)
      // The same for the same number, but for one in four.
      let other = dice.draw(4) == 0 ? dice.draw(40) : id
      let label = ["", "x", "ab", "é", "e\u{301}", "äöü"][dice.draw(12) == 0 ? 1 : [0, 2, 3, 4, 5][other % 5]]
      let level = ["", "0.5", "-3", "1e300"][other % 4]
      let at = ["", "2024-02-29", "2024-02-29T12:00:00.25Z"][other % 3]
      let cost = ["0.1", "", "12345678901234567890.5"][other % 3]
      let size = dice.draw(20) == 0 ? "51" : "\(other % 50)"
      let grade = ["", "3", "7"][other % 3]
      let site = hasSites ? "," + (dice.draw(40) == 0 ? "zz" : ["", "DE", "FR", "IT"][other % 4]) : ""
      text +=
        "\(id),\(label),\(level),\(other % 2 == 0),\(at),\(cost),\(size),\(dice.draw(30) == 0 ? "many" : grade)\(site)\n"
    }
    return text
  }

  private struct Outcome: Equatable {
    var tallies: [String] = []
    var rows: [String] = []
    var refusals: [[String]] = []
  }

  @Test(
    "leave the same as objects do", arguments: 0..<12,
    [ImportMode.insert, .upsert, .update, .synchronise])
  func sameAsObjects(seed: UInt64, mode: ImportMode) throws {
    let spread = [60, 300, 5_000][Int(seed % 3)]
    let hasSites = seed % 2 == 0
    try leaveTheSame(seed, countries: ["DE", "FR", "IT"], more: 20) { room, dice, job in
      try room.run(
        Self.gauges(&dice, job == 0 ? 120 : 90, spread: spread, hasSites: hasSites), into: "Gauge",
        mode: job == 0 ? .upsert : mode, batch: [1, 7, 30, 500][dice.draw(4)], job: "\(job)")
    } rows: {
      try $0.rows(Self.columns, of: "Gauge")
    }
  }

  @Test(
    "by a key of text leave the same as objects do", arguments: 0..<8,
    [ImportMode.upsert, .update, .synchronise])
  func sameAsObjectsByText(seed: UInt64, mode: ImportMode) throws {
    try leaveTheSame(seed, mode, "Country", ["code", "name"], keyColumns: 1) { dice in
      var text = "code,name\n"
      for _ in 0..<50 {
        let code = ["é", "e\u{301}", "Ä", "zz", "z", ""][dice.draw(6)] + "\(dice.draw(12))"
        text += "\(code),\(["", "a", "b"][dice.draw(3)])\n"
      }
      return text
    }
  }

  @Test(
    "by a text and an instant leave the same as objects do", arguments: 0..<10,
    [ImportMode.insert, .upsert, .update, .synchronise, .replace])
  func sameAsObjectsByTwo(seed: UInt64, mode: ImportMode) throws {
    try leaveTheSame(seed, mode, "Reading", ["station", "at", "level", "grade", "site.code"]) { dice in
      let hasGrade = dice.draw(2) == 0
      var text = "station,at,level,site" + (hasGrade ? ",grade\n" : "\n")
      for _ in 0..<60 {
        let station = ["é", "e\u{301}", "N", "n", ""][dice.draw(20) == 0 ? 4 : dice.draw(4)]
        let at =
          dice.draw(25) == 0
          ? "" : "2024-03-\(dice.draw(9) + 10)T0\(dice.draw(3)):30:00\(dice.draw(3) == 0 ? ".5" : "")Z"
        let site = dice.draw(50) == 0 ? "zz" : ["", "DE", "FR"][dice.draw(3)]
        text += "\(station),\(at),\(dice.draw(40) == 0 ? "much" : "\(dice.draw(3)).5"),\(site)"
        text += hasGrade ? ",\(dice.draw(3))\n" : "\n"
      }
      return text
    }
  }

  @Test(
    "by an instant leave the same as objects do", arguments: 0..<10,
    [ImportMode.insert, .upsert, .update, .synchronise, .replace])
  func sameAsObjectsByDate(seed: UInt64, mode: ImportMode) throws {
    try leaveTheSame(seed, mode, "Tick", ["at", "level"]) { dice in
      // Files that begin after the last one's end, within its last seconds, and before it.
      let hour = dice.draw(4)
      return "at,level\n"
        + (0..<40).map { _ in
          let fraction = ["", ".5", ".25", ".500001"][dice.draw(4)]
          let time = "2024-03-10T\(hour + 10):\(dice.draw(5) + 10):0\(dice.draw(3))\(fraction)Z"
          return "\(dice.draw(25) == 0 ? "" : time),\(dice.draw(3)).5\n"
        }.joined()
    }
  }

  @Test(
    "by a whole number leave the same as objects do", arguments: 0..<10,
    [ImportMode.insert, .upsert, .update, .synchronise, .replace])
  func sameAsObjectsByNumber(seed: UInt64, mode: ImportMode) throws {
    try leaveTheSame(seed, mode, "Mark", ["code", "note"]) { dice in
      let last = 50 * dice.draw(4)
      let spread = [60, 5_000][dice.draw(2)]
      return "code,note\n"
        + (0..<40).map { _ in
          "\(dice.draw(25) == 0 ? "" : "\(last + dice.draw(spread))"),\(["", "a", "b"][dice.draw(3)])\n"
        }.joined()
    }
  }

  @Test(
    "by numbers that may be missing leave the same as objects do", arguments: 0..<8,
    [ImportMode.upsert, .update, .synchronise, .replace])
  func sameAsObjectsByPartialKeys(seed: UInt64, mode: ImportMode) throws {
    try leaveTheSame(seed, mode, "Seat", ["row", "number", "price"]) { dice in
      "row,number,price\n"
        + (0..<50).map { _ in
          let number = dice.draw(12) == 0 ? "" : "\(dice.draw(12))"
          return "\(dice.draw(6)),\(number),\(["", "0.1", "12345678901234567890.5"][dice.draw(3)])\n"
        }.joined()
    }
  }

  @Test(
    "by a UUID leave the same as objects do", arguments: 0..<6, [ImportMode.upsert, .synchronise, .replace])
  func sameAsObjectsByUUID(seed: UInt64, mode: ImportMode) throws {
    try leaveTheSame(seed, mode, "Device", ["serial", "note"]) { dice in
      "serial,note\n"
        + (0..<50).map { _ in
          "00000000-0000-0000-000\(dice.draw(3))-0000000000\(dice.draw(60) + 10),\(["", "a", "b"][dice.draw(3)])\n"
        }.joined()
    }
  }

  /// Clubs with players: of keys that come again in other batches or jobs, that move from club to club, that are missing or
  /// twice in one club; with values that can't be; and with players given by their numbers alone.
  private static func clubs(_ dice: inout Lot, _ count: Int, isCareful: Bool) -> String {
    (0..<count).map { _ in
      let players = (0..<dice.draw(4)).map { _ -> String in
        switch isCareful ? 9 : dice.draw(60) {
        case 0: return "\(dice.draw(400))"
        case 1: return #"{"age":7}"#
        case 2: return #"{"number":\#(dice.draw(400)),"age":"old"}"#
        case 3: return #"{"number":\#(dice.draw(400)),"age":70000}"#
        case 4: return #"{"number":\#(dice.draw(400)),"club":"c1"}"#
        case 5: return #"{"number":\#(dice.draw(400)),"number":\#(dice.draw(400))}"#
        case 6: return "null"
        default:
          let age = [#","age":3"#, #","age":null"#, "", #" , "x":[{"y":"}"}], "age" : "4" "#][dice.draw(4)]
          return #"{"number":\#(dice.draw(isCareful ? 100_000 : 400))\#(age)}"#
        }
      }
      let name = dice.draw(isCareful ? 1000 : 25) == 0 ? "null" : #""\u0063\#(dice.draw(isCareful ? 100_000 : 60))""#
      let list = [
        #","players":[\#(players.joined(separator: ", "))]"#, #","players":[ ]"#, #","players":null"#, "",
      ][dice.draw(isCareful ? 1 : 8) > 3 ? dice.draw(4) : 0]
      return #"{"name":\#(name)\#(list)}"# + "\n"
    }.joined()
  }

  @Test(
    "with nested objects leave the same as objects do", arguments: 0..<16, [ImportMode.insert, .upsert])
  func sameAsNestedObjects(seed: UInt64, mode: ImportMode) throws {
    try leaveTheSame(seed, more: 20) { room, dice, job in
      try room.run(
        Self.clubs(&dice, 40, isCareful: seed % 2 == 0 && job != 2), as: "\(job).ndjson", into: "Club",
        mode: job == 0 ? .upsert : mode, batch: [1, 4, 15, 100][dice.draw(4)], job: "\(job)")
    } rows: {
      try $0.rows(["name", "captain.number"], of: "Club") + $0.rows(["number", "age", "club.name"], of: "Player")
    }
  }

  /// Clubs with two players each.
  private static func teams(_ change: (inout [String]) -> Void = { _ in }) -> String {
    var lines = (0..<30).map {
      #"{"name":"c\#($0)","players":[{"number":\#($0),"age":\#($0 + 10)},{"number":\#($0 + 100)}]}"#
    }
    change(&lines)
    return lines.map { $0 + "\n" }.joined()
  }

  @Test("with nested objects need no object where nothing has changed")
  func sameNested() throws {
    let room = try ImportRoom(.sqlite)
    #expect(try room.run(Self.teams(), as: "a.ndjson", into: "Club", batch: 10).tally == "30i 0u 0= 0r 0?")
    let watch = try RowWatch(room.database, table: "Player")
    let before = room.plan.readRows(of: "Club") + room.plan.readRows(of: "Player")
    let end = try room.run(Self.teams(), as: "a.ndjson", into: "Club", mode: .upsert, batch: 10, job: "2")
    #expect(end.tally == "0i 0u 30= 0r 0?")
    #expect(room.plan.readRows(of: "Club") + room.plan.readRows(of: "Player") == before)
    #expect(try watch.writes() == [])
  }

  @Test("with nested objects are told from those that are the same by anything that changes, in either")
  func changedNested() throws {
    let changes: [(String, (inout [String]) -> Void, String)] = [
      ("an attribute", { $0[7] = $0[7].replacing(#""age":17"#, with: #""age":18"#) }, "7|18|c7"),
      ("a member less", { $0[7] = #"{"name":"c7","players":[{"number":7,"age":17}]}"# }, "7|17|c7"),
      ("a member more", { $0[7] = $0[7].replacing("]", with: #",{"number":500}]"#) }, "500||c7"),
      (
        "a member of another",
        {
          $0[7] = #"{"name":"c7","players":[{"number":7,"age":17},{"number":108}]}"#
          $0[8] = #"{"name":"c8","players":[{"number":8,"age":18},{"number":107}]}"#
        }, "108||c7"
      ), ("no word of them", { $0[7] = #"{"name":"c7"}"# }, "7|17|c7"),
      ("none", { $0[7] = #"{"name":"c7","players":[]}"# }, "8|18|c8"),
    ]
    for (what, change, line) in changes {
      var tallies: [String] = []
      var rows: [[String]] = []
      for batch in [1, 10, 100] {
        let room = try ImportRoom(.sqlite)
        try room.run(Self.teams(), as: "a.ndjson", into: "Club", batch: 10)
        let end = try room.run(
          Self.teams(change), as: "b.ndjson", into: "Club", mode: .upsert, batch: batch, job: "2")
        tallies.append(end.tally)
        rows.append(try room.rows("number", "age", "club.name", of: "Player"))
        #expect(rows.last?.contains(line) == true, "\(what), \(batch): \(rows)")
      }
      // In memory there is no way but by objects.
      let other = try ImportRoom(.memory)
      try other.run(Self.teams(), as: "a.ndjson", into: "Club", batch: 10)
      let end = try other.run(Self.teams(change), as: "b.ndjson", into: "Club", mode: .upsert, batch: 10, job: "2")
      #expect(tallies.allSatisfy { $0 == end.tally }, "\(what): \(tallies), \(end.tally)")
      let expected = try other.rows("number", "age", "club.name", of: "Player")
      #expect(rows.allSatisfy { $0 == expected }, "\(what)")
    }
  }

  @Test("with nested objects are announced with them, each once")
  func announcedNested() throws {
    let room = try ImportRoom(.sqlite)
    let text = (0..<10).map {
      #"{"name":"c\#($0)","players":[{"number":\#($0)},{"number":\#($0 + 100),"age":5}]}"# + "\n"
    }
    let saves = Saves(of: room.coordinator)
    let end = try room.run(text.joined(), as: "a.ndjson", into: "Club", batch: 4)
    #expect(end.tally == "10i 0u 0= 0r 0?")
    #expect(end.notes == ["created 20 Player on the way, for players"])
    #expect(saves.count(of: "Club") == 10)
    #expect(saves.count(of: "Player") == 20)
    #expect(try room.rows("number", "club.name", of: "Player").filter { $0.hasSuffix("|c3") } == ["103|c3", "3|c3"])
    #expect(try room.sets("name", "players.number", of: "Club").first == "c0|0,100")
  }

  @Test("with nested objects need no room for the braces in texts")
  func braces() throws {
    for (json, count) in [
      (#"[{"a":"{{","b":{}},{}]"#, 3), (#"["{\"{\\",{"{":"\\\""},{"x":"{"}]"#, 2), ("[]", 0),
    ] {
      var json = json
      #expect(json.withUTF8 { FlatNesting.objects(in: UnsafeRawBufferPointer($0)) } == count, "\(json)")
    }
    let room = try ImportRoom(.sqlite)
    let braces = String(repeating: "{", count: 1_200_000)
    let text = #"{"name":"c1","players":[{"number":1,"note":"\#(braces)"},{"number":2}]}"# + "\n"
    #expect(try room.run(text, as: "a.ndjson", into: "Club").tally == "1i 0u 0= 0r 0?")
    #expect(room.plan.newRows(of: "Player") == 2)
    #expect(try room.rows("number", "club.name", of: "Player") == ["1|c1", "2|c1"])
  }

  @Test("with nested objects are made once, whichever write fails", arguments: StoreKind.allCases)
  func killedNested(kind: StoreKind) throws {
    let text = (0..<7).map {
      #"{"name":"c\#($0)","players":[{"number":\#($0)},{"number":\#($0 % 3 + 100),"age":5}]}"# + "\n"
    }
    try Killing.everyWrite(kind) { room in
      try room.run(text.joined(), as: "a.ndjson", into: "Club", batch: 2)
    } traces: { room, end in
      try room.rows("number", "age", "club.name", of: "Player") + [end.tally, CountText.text(end.counts.created)]
    }
  }

  /// Imports four files of an entity into a store of each kind, which are to have the same rows and rejects after that.
  /// - Parameter keyColumns: the number of columns, from the first on, that are the key.
  private func leaveTheSame(
    _ seed: UInt64, _ mode: ImportMode, _ entity: String, _ paths: [String], keyColumns: Int = 2,
    _ file: (inout Lot) -> String
  ) throws {
    try leaveTheSame(seed, countries: entity == "Country" ? [] : ["DE", "FR"]) { room, dice, job in
      var text = file(&dice)
      // Once each in some files, so that some batches have no key twice.
      if dice.draw(3) > 0 {
        var seen: Set<String> = []
        let lines = text.split(separator: "\n").filter { line in
          let key = line.split(separator: ",", omittingEmptySubsequences: false).prefix(keyColumns)
          return seen.insert(key.joined(separator: ",")).inserted
        }
        text = lines.joined(separator: "\n") + "\n"
      }
      return try room.run(
        text, into: entity, mode: job == 0 ? .upsert : mode, batch: [3, 20, 100][dice.draw(3)], job: "\(job)")
    } rows: {
      try $0.rows(paths, of: entity)
    }
  }

  /// Makes four imports into a store of each kind, which are to have the same rows, counts, notes and rejects after that.
  /// - Parameter more: the number of rows that the rows left exceed.
  private func leaveTheSame(
    _ seed: UInt64, countries: [String] = [], more: Int = 0,
    imports: (ImportRoom, inout Lot, _ job: Int) throws -> ImportEnd, rows: (ImportRoom) throws -> [String]
  ) throws {
    var outcomes: [Outcome] = []
    for kind in StoreKind.allCases {
      var dice = Lot(seed: seed)
      let room = try ImportRoom(kind)
      try room.furnish(countries: countries)
      var outcome = Outcome()
      for job in 0...3 {
        let end = try imports(room, &dice, job)
        outcome.tallies.append("\(end.tally) \(end.counts.deleted)d \(end.notes)")
        outcome.refusals.append(room.refusals("\(job)"))
      }
      outcome.rows = try rows(room)
      outcomes.append(outcome)
    }
    #expect(outcomes[0] == outcomes[1])
    #expect(outcomes[1].rows.count > more)
  }

  @Test("need no object for their keys, whatever these consist of, where the table is empty")
  func newRows() throws {
    func file(_ header: String, _ row: (Int) -> String) -> String {
      ([header] + (10..<60).map(row)).joined(separator: "\n") + "\n"
    }
    let files: [(String, String)] = [
      ("Reading", file("station,at,level") { "N,2024-03-01T00:00:\($0)Z,1" }),
      ("Seat", file("row,number,price") { "1,\($0),1.5" }), ("Country", file("code,name") { "c\($0),x" }),
      ("Device", file("serial,note") { "00000000-0000-0000-0000-0000000000\($0),x" }),
    ]
    for (entity, text) in files {
      for mode in [ImportMode.upsert, .synchronise, .replace] {
        let room = try ImportRoom(.sqlite)
        #expect(try room.run(text, into: entity, mode: mode, batch: 20).tally == "50i 0u 0= 0r 0?")
        #expect(room.plan.newRows(of: entity) == 50, "\(entity), \(mode)")
        #expect(try room.count(of: entity) == 50)
      }
    }
  }

  @Test("and change nothing write no row and announce none")
  func unchanged() throws {
    let room = try ImportRoom(.sqlite)
    let text =
      "id,label,level,isOn,at,cost,size,grade\n"
      + (1...200).map {
        "\($0),label \($0),\($0).5,\($0 % 2 == 0),2024-01-01T00:00:\($0 % 50 + 10)Z,0.\($0),\($0 % 50),\n"
      }.joined()
    #expect(try room.run(text, into: "Gauge", batch: 60, job: "1").tally == "200i 0u 0= 0r 0?")
    let saves = Saves(of: room.coordinator)
    let watch = try RowWatch(room.database, table: "Gauge")
    #expect(try room.run(text, into: "Gauge", batch: 60, job: "2").tally == "0i 0u 200= 0r 0?")
    #expect(saves.count(of: "Gauge") == 0)
    #expect(try watch.writes() == [])
    #expect(
      try room.run(text.replacingOccurrences(of: "label 77,", with: "other,"), into: "Gauge", batch: 60, job: "3").tally
        == "0i 1u 199= 0r 0?")
    #expect(saves.count(of: "Gauge") == 1)
  }

  @Test("leave alone what a record doesn't mention", arguments: StoreKind.allCases)
  func partialRecords(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("id,label,size\n1,ab,3\n2,cd,4\n", into: "Gauge", job: "1")
    let text = "{\"id\":1,\"size\":5}\n{\"id\":2,\"label\":null}\n{\"id\":3,\"label\":\"ef\"}\n"
    #expect(try room.run(text, as: "b.ndjson", into: "Gauge", job: "2").tally == "1i 2u 0= 0r 0?")
    #expect(try room.rows("id", "label", "size", of: "Gauge") == ["1|ab|5", "2||4", "3|ef|"])
    #expect(try room.run("id,size\n1,5\n3,6\n", into: "Gauge", job: "3").tally == "0i 1u 1= 0r 0?")
    #expect(try room.rows("id", "label", "size", of: "Gauge") == ["1|ab|5", "2||4", "3|ef|6"])
  }

  @Test(
    "join the sets of the objects that they refer to, also where these are looked at", arguments: StoreKind.allCases)
  func sets(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR"])
    let looking = room.context()
    let country = try #require(
      try looking.fetch(FetchRequest<ManagedObject>(entityName: "Country", predicate: .equal("code", .string("DE"))))
        .first)
    func gauges() -> Int {
      if case .objects(let ids)? = country.value(forKey: "gauges") { ids.count } else { -1 }
    }
    #expect(gauges() == 0)
    let saves = Mutex<[ContextSave]>([])
    let coordinator = room.coordinator
    let observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
    ) { note in
      guard let context = note.object as? ManagedObjectContext, context.persistentStoreCoordinator === coordinator,
        let save = ContextSave(note)
      else { return }
      saves.withLock { $0.append(save) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let end = try room.run("id,label,site\n1,aa,DE\n2,bb,FR\n3,cc,DE\n4,dd,\n", into: "Gauge", mode: .insert, batch: 2)
    #expect(end.tally == "4i 0u 0= 0r 0?")
    for save in saves.withLock({ $0 }) { looking.mergeChanges(fromContextDidSave: save) }
    #expect(gauges() == 2)
    #expect(
      try room.run("id,site\n1,DE\n2,DE\n3,FR\n", into: "Gauge", mode: .upsert, job: "2").tally == "0i 2u 1= 0r 0?")
    #expect(try room.rows("id", "site.code", of: "Gauge") == ["1|DE", "2|DE", "3|FR", "4|"])
  }

  @Test("that refer to an object which another writer deletes are as if it had never existed")
  func deletedTarget() throws {
    let room = try ImportRoom(.sqlite)
    try room.furnish(countries: ["DE", "FR"])
    room.intrude { context in
      let request = FetchRequest<ManagedObject>(entityName: "Country", predicate: .equal("code", .string("FR")))
      if let country = try context.fetch(request).first { context.delete(country) }
    }
    let end = try room.run("id,site\n1,DE\n2,FR\n", into: "Gauge", mode: .insert)
    #expect(end.tally == "2i 0u 0= 0r 1?")
    #expect(try room.rows("id", "site.code", of: "Gauge") == ["1|DE", "2|"])
  }

  @Test("are checked against the model, with a filter and without", arguments: StoreKind.allCases, ["", "id > 1"])
  func required(kind: StoreKind, filter: String) throws {
    let room = try ImportRoom(kind)
    var mapping = MappingOptions()
    if !filter.isEmpty { mapping.filter = filter }
    let end = try room.run("id,text\n1,a\n2,b\n3,c\n", into: "Badge", mode: .insert, mapping: mapping)
    // Each needs an owner, of which the file says nothing.
    #expect(end.tally == (filter.isEmpty ? "0i 0u 0= 3r 0?" : "0i 0u 0= 2r 0?"))
    #expect(room.refusals().last == "4,owner,missing_value")
    #expect(try room.count(of: "Badge") == 0)
  }

  @Test("whose date a zone leads out of what can be kept are rejected alone", arguments: StoreKind.allCases)
  func dates(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "id,at\n1,0000-01-01T00:00:00+05:00\n2,2024-02-29T00:00:00+05:00\n3,9999-12-31T23:00:00-05:00\n"
    for (mode, job) in [(ImportMode.insert, "1"), (.upsert, "2")] {
      let end = try room.run(text, into: "Gauge", mode: mode, job: job)
      #expect(end.tally == (mode == .insert ? "1i 0u 0= 2r 0?" : "0i 0u 1= 2r 0?"))
      #expect(room.refusals(job) == ["2,at,out_of_range", "4,at,out_of_range"])
    }
  }

  @Test("take concurrent changes of another writer into account", arguments: ["insert", "change", "delete"])
  func intrusions(what: String) throws {
    let room = try ImportRoom(.sqlite)
    try room.run("id,label\n1,aa\n2,bb\n", into: "Gauge", job: "1")
    room.intrude { context in
      func gauge(_ id: Int64) throws -> ManagedObject? {
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Gauge", predicate: .equal("id", .int(id)))).first
      }
      switch what {
      case "insert":
        let new = try context.insert("Gauge")
        try new.setValue(.int(3), forKey: "id")
        try new.setValue(.string("theirs"), forKey: "label")
      case "change": try gauge(2)?.setValue(.string("theirs"), forKey: "label")
      default: if let gauge = try gauge(2) { context.delete(gauge) }
      }
    }
    let end = try room.run("id,label\n1,aa\n2,mine\n3,mine\n", into: "Gauge", job: "2")
    #expect(try room.rows("id", "label", of: "Gauge") == ["1|aa", "2|mine", "3|mine"])
    #expect(end.tally == ["insert": "0i 2u 1= 0r 0?", "change": "1i 1u 1= 0r 0?", "delete": "2i 0u 1= 0r 0?"][what])
  }

  @Test("are counted once, whenever the import is killed", arguments: [ImportMode.upsert, .synchronise])
  func killed(mode: ImportMode) throws {
    var dice = Lot(seed: 3)
    let first = Self.gauges(&dice, 30, spread: 60, hasSites: true)
    let second = Self.gauges(&dice, 24, spread: 60, hasSites: true)
    try Killing.everyWrite(
      .sqlite,
      furnish: {
        try $0.furnish(countries: ["DE", "FR", "IT"])
        try $0.run(first, into: "Gauge", job: "0")
      },
      run: { try $0.run(second, into: "Gauge", mode: mode, batch: 5, job: "1") },
      traces: { room, end in
        ["\(end.tally) \(end.counts.deleted)d", room.rejects() ?? ""] + (try room.rows(Self.columns, of: "Gauge"))
      })
  }
}
