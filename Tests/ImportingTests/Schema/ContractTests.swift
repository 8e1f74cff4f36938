import ManagedObjects
import Testing

@testable import Importing

@Suite("A recipe's schema contract", .timeLimit(.minutes(20)))
struct ContractTests {
  private static func contract(_ change: (inout SchemaContract) -> Void) -> MappingOptions {
    MappingOptions { change(&$0.schema) }
  }

  private static let batches = [1, 2, 100]

  // MARK: Columns

  @Test("rejects a record with a value in a new column, and takes the others", arguments: StoreKind.allCases, batches)
  func newColumn(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    var mapping = Self.contract { $0.columns = .discardRow }
    mapping.nulls = ["NA"]
    let text = "code,name,shoe\na,Ann,\nb,Bob,43\nc,Cleo,NA\n"
    let end = try room.run(text, batch: batch, mapping: mapping)
    #expect(end.tally == "2i 0u 0= 1r 0?")
    #expect(end.notes == [])
    #expect(try room.rows("code") == ["a", "c"])
    #expect(room.refusals() == ["3,shoe,new_column"])
    #expect(room.rejects()?.contains("shoe: Person has nothing for this column") == true)
    mapping.ignoredColumns = ["shoe"]
    #expect(try room.run(text, batch: batch, job: "2", mapping: mapping).tally == "1i 0u 2= 0r 0?")
  }

  @Test(
    "rejects a record with a new key in JSON, from the batch on that shows it", arguments: StoreKind.allCases, batches)
  func newKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = """
      {"code":"a","name":"Ann"}
      {"code":"b","name":"Bob","shoe":43}
      {"code":"c","name":"Cleo","shoe":null}
      {"code":"d","name":"Dan","hat":{"size":1}}
      """
    let end = try room.run(
      text, as: "a.ndjson", batch: batch, mapping: Self.contract { $0.columns = .discardRow })
    #expect(end.tally == "2i 0u 0= 2r 0?")
    #expect(try room.rows("code") == ["a", "c"])
  }

  @Test("doesn't ask for new columns of a record that the filter leaves out")
  func filtered() throws {
    let room = try ImportRoom(.memory)
    var mapping = Self.contract { $0.columns = .discardRow }
    mapping.filter = "code != 'b'"
    let end = try room.run("code,name,shoe\na,Ann,\nb,Bob,43\n", mapping: mapping)
    #expect(end.tally == "1i 0u 0= 0r 0?")
    #expect(end.progress.counts.skipped == 1)
  }

  // MARK: Types

  @Test(
    "leaves out a value that doesn't fit, and says how many", arguments: StoreKind.allCases, batches)
  func leftOut(kind: StoreKind, batch: Int) throws {
    for mode in [ImportMode.insert, .upsert, .replace] {
      let room = try ImportRoom(kind)
      let text = "code,name,age,birthday\na,Ann,old,01.02.1990\nb,Bob,70000,x\nc,Cleo,5,\n"
      let end = try room.run(text, mode: mode, batch: batch, mapping: Self.contract { $0.types = .discardValue })
      #expect(end.tally == "3i 0u 0= 0r 0?", "\(mode)")
      #expect(
        end.notes == [
          "left out 2 value(s) that don't fit age, as the recipe's schema says",
          "left out 1 value(s) that don't fit born, as the recipe's schema says",
        ], "\(mode)")
      #expect(try room.rows("code", "age") == ["a|", "b|", "c|5"], "\(mode)")
    }
  }

  @Test("counts a value that is left out once, however often the import is stopped", arguments: StoreKind.allCases)
  func countedOnce(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let mapping = Self.contract { $0.types = .discardValue }
    let text = "code,name,age\na,A,x\nb,B,x\nc,C,1\nd,D,x\n"
    for stop in 1...3 { try room.run(text, batch: 1, stopAfter: stop > 2 ? 1 : 1, mapping: mapping) }
    let end = try room.run(text, batch: 1, mapping: mapping)
    #expect(end.notes == ["left out 3 value(s) that don't fit age, as the recipe's schema says"])
    #expect(try room.count(of: "Person") == 4)
  }

  @Test("a value that is left out makes null of what the object had, or the recipe's default")
  func updated() throws {
    let room = try ImportRoom(.sqlite)
    let mapping = Self.contract { $0.types = .discardValue }
    try room.run("code,name,age\na,Ann,5\n", mapping: mapping)
    try room.run("code,name,age\na,Ann,old\n", as: "b.csv", job: "2", mapping: mapping)
    #expect(try room.rows("code", "age") == ["a|"])
    var rule = PropertyRule()
    rule.defaultValue = "9"
    try room.run("code,name,age\na,Ann,old\n", as: "c.csv", job: "3", rules: ["age": rule], mapping: mapping)
    #expect(try room.rows("code", "age") == ["a|9"])
  }

  @Test("rejects a value that can't be left out: one that is required, or of a key, or that the filter asks for")
  func required() throws {
    let room = try ImportRoom(.sqlite)
    var mapping = Self.contract { $0.types = .discardValue }
    #expect(try room.run("code,name,grade\na,Ann,x\n", mapping: mapping).tally == "0i 0u 0= 1r 0?")
    let seats = try room.run("row,number,price\n1,x,2\n1,2,x\n", as: "b.csv", into: "Seat", job: "2", mapping: mapping)
    #expect(seats.tally == "1i 0u 0= 1r 0?")
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1|2|"])
    mapping.filter = "age > 3"
    #expect(
      try room.run("code,name,age\nb,Bob,x\n", as: "c.csv", job: "3", mapping: mapping).tally == "0i 0u 0= 1r 0?")
    // A rule of the model isn't a matter of type.
    mapping.filter = nil
    let rule = try room.run("code,name,age\nc,Cleo,151\n", as: "d.csv", job: "4", mapping: mapping)
    #expect(rule.tally == "0i 0u 0= 1r 0?")
  }

  @Test("fails at a value that doesn't fit, before it writes the batch of it", arguments: StoreKind.allCases, batches)
  func frozen(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "code,name,age\na,Ann,1\nb,Bob,2\nc,Cleo,old\nd,Dan,3\n"
    let mapping = Self.contract { $0.types = .freeze }
    for _ in 1...2 {
      let error = try room.failure(text, batch: batch, mapping: mapping)
      guard case .changedType("Person", 4, let message)? = error as? MappingError else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(message.contains("age: “old” isn't a whole number"))
      #expect(try room.count(of: "Person") == (batch == 100 ? 0 : 2))
      #expect(room.rejects() == nil || room.refusals() == [])
    }
    let whole = try ImportRoom(kind)
    whole.adjust = { $0.atomicity = .file }
    #expect(try whole.failure(text, batch: batch, mapping: mapping) is MappingError)
    #expect(try whole.count(of: "Person") == 0)
  }

  @Test("rejects what is wrong in every type, whatever the contract says")
  func neverOfType() throws {
    var rule = PropertyRule()
    (rule.values, rule.refusesOtherValues) = (["m": "5"], true)
    for term in SchemaContract.Term.allCases {
      let room = try ImportRoom(.memory)
      let end = try room.run(
        "code,name,age\na,Ann,m\nb,Bob,w\n", rules: ["age": rule], mapping: Self.contract { $0.types = term })
      #expect(end.tally == "1i 0u 0= 1r 0?", "\(term)")
    }
  }

  @Test("is read from the options of jobs, and has its defaults where they say nothing")
  func defaults() {
    let contract = SchemaContract()
    #expect((contract.columns, contract.types, contract.entities) == (.discardValue, .discardRow, .discardRow))
    #expect(SchemaContract(.freeze).entities == .freeze)
  }
}
