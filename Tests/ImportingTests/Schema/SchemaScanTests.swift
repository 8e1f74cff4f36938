import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import Importing

@Suite("A file compared with its model", .timeLimit(.minutes(20)))
struct SchemaScanTests {
  private let scratch: ScratchDirectory

  init() throws { scratch = try ScratchDirectory() }

  private func difference(
    _ text: String, as name: String = "a.csv", into entity: String = "Person", records: Int64? = nil,
    _ change: (inout ImportOptions) -> Void = { _ in }
  ) throws -> SchemaDifference {
    let file = scratch.file(name)
    try Data(text.utf8).write(to: file)
    var options = ImportOptions()
    change(&options)
    let request = ImportRequest(
      job: "diff", source: file, name: name, entity: entity, options: options, rejects: scratch.file("rejects"))
    return try SchemaScan(request, into: try StaffModel.model.get()).run(records: records) { false }
  }

  private func lines(_ difference: SchemaDifference) -> [String] {
    difference.changes.map { change in
      [
        change.subject.rawValue, change.file, change.entity, change.column, change.attribute, change.type?.rawValue,
        change.newType?.rawValue, "\(change.values)", change.example, change.line.map { "\($0)" }, change.term.rawValue,
      ].map { $0 ?? "-" }.joined(separator: "|")
    }
  }

  @Test("has nothing to say where everything fits")
  func fits() throws {
    let found = try difference("code,name,birthday\na,Ann,01.02.1990\n")
    #expect(found.changes.isEmpty && found.isWhole && found.records == 1 && !found.isRefused)
    #expect(try difference("").changes.isEmpty)
  }

  @Test("has an attribute for each new column, of the type that all its values have")
  func columns() throws {
    let found = try difference(
      "code,name,shoe size,Age,seen,empty,class\na,Ann,43,x,2024-01-31,,1\nb,Bob,44.5,,2024-02-01,,2\n")
    #expect(
      lines(found) == [
        "columns|-|Person|shoe size|shoeSize|-|Double|2|43|2|discard_value",
        "columns|-|Person|Age|age2|-|String|1|x|2|discard_value",
        "columns|-|Person|seen|seen|-|Date|2|2024-01-31|2|discard_value",
        "columns|-|Person|empty|-|-|-|0|-|-|discard_value",
        "columns|-|Person|class|classValue|-|Integer 64|2|1|2|discard_value",
      ])
  }

  @Test("has the narrowest type that holds the values of an attribute's column, too")
  func types() throws {
    let text = "code,age,grade,name\na,70000,1.5,x\nb,7,2,x\nc,80000,x,x\n"
    #expect(
      lines(try difference(text) { $0.mapping.schema.types = .freeze }) == [
        "types|-|Person|age|age|Integer 16|Integer 32|2|70000|2|freeze",
        // It has a default, which isn't a text's.
        "types|-|Person|grade|grade|Integer 32|-|2|1.5|2|freeze",
      ])
    let readings = "station,at,level,grade\na,2024-01-31,high,1\nb,yesterday,1.5,2\n"
    #expect(
      lines(try difference(readings, into: "Reading")) == [
        "types|-|Reading|at|at|Date|String|1|yesterday|3|discard_row",
        "types|-|Reading|level|level|Double|String|1|high|2|discard_row",
      ])
  }

  @Test("is read with the recipe's notations and nulls")
  func notations() throws {
    var rule = PropertyRule()
    (rule.decimalSeparator, rule.groupingSeparator) = (",", ".")
    let found = try difference("code,age,shoe\na,\"70.000\",NA\nb,1,43\n") {
      $0.mapping.properties["age"] = rule
      $0.mapping.nulls = ["NA"]
    }
    #expect(
      lines(found) == [
        "types|-|Person|age|age|Integer 16|Integer 32|1|70.000|2|discard_row",
        "columns|-|Person|shoe|shoe|-|Integer 64|1|43|3|discard_value",
      ])
  }

  @Test("has keys of JSON that come late, and arrays of texts, and no attribute for objects")
  func json() throws {
    let text = """
      {"code":"a","name":"A"}
      {"code":"b","name":"B","tags":["x","y"],"hat":{"size":1}}
      {"code":"c","name":"C","age":"old","flag":true}
      """
    #expect(
      lines(try difference(text, as: "a.ndjson")) == [
        "types|-|Person|age|age|Integer 16|-|1|old|3|discard_row",
        "columns|-|Person|tags|tags|-|Transformable|1|-|2|discard_value",
        "columns|-|Person|hat|-|-|-|1|-|2|discard_value",
        "columns|-|Person|flag|flag|-|Boolean|1|true|3|discard_value",
      ])
  }

  @Test("shows neither names nor values where something is masked")
  func masked() throws {
    var rule = PropertyRule()
    rule.mask = .redact
    let found = try difference("code,name,age,shoe\na,Ann,old,43\n") { $0.mapping.properties["nick"] = rule }
    #expect(
      lines(found) == [
        "types|-|Person|age|age|Integer 16|-|1|-|2|discard_row",
        "columns|-|Person|****|-|-|Integer 64|1|-|2|discard_value",
      ])
  }

  @Test("is read as far as asked, and says so")
  func beginning() throws {
    let found = try difference("code,name,age\na,A,1\nb,B,x\n", records: 1)
    #expect(found.changes.isEmpty && !found.isWhole && found.records == 1)
  }

  @Test("is bounded in what it lists, however many columns a hostile file has")
  func bounded() throws {
    let names = (0..<1_500).map { "c\($0)" }
    let found = try difference("code," + names.joined(separator: ",") + "\na" + names.map { _ in ",1" }.joined() + "\n")
    #expect(found.changes.count == SchemaDifference.limit)
    let long = String(repeating: "x", count: 5_000)
    let strange = try difference("code,\(long),\"a\u{1}b\"\na,1,2\n")
    #expect(strange.changes.allSatisfy { $0.attribute == nil && ($0.column?.count ?? 0) < 300 })
  }
}
