import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("What a model lacks for files")
struct ModelComparisonTests {
  private static let person = EntityDefinition(
    "Person",
    attributes: [
      AttributeDefinition("id", .integer64, isOptional: false), AttributeDefinition("age", .integer16),
      AttributeDefinition("fee", .integer32), AttributeDefinition("size", .integer16),
      AttributeDefinition("joined", .date, userInfo: ["dateFormat": "d/M/yyyy"]),
      AttributeDefinition("fullName", .string, isOptional: false, userInfo: ["mappedKeyName": "name"]),
      AttributeDefinition("code", .string, isOptional: false),
    ],
    relationships: [RelationshipDefinition("team", to: "Team", userInfo: ["mappedKeyName": "team_id"])],
    uniquenessConstraints: [["id"]])
  private static let team = EntityDefinition(
    "Team", attributes: [AttributeDefinition("id", .integer64)], uniquenessConstraints: [["id"]])

  private func changes(_ files: [(String, String)]) throws -> [ModelComparison.Change] {
    let model = try ManagedObjectModel(entities: [Self.person, Self.team])
    return ModelComparison(of: model, with: try InferenceRoom().infer(files)).changes
  }

  @Test("is said change by change, with the attribute to add or to alter")
  func changes() throws {
    let found = try changes([
      (
        "people.csv",
        "id,name,age,fee,size,joined,team_id,phone\n1,Ada,41,10.5,70000,3/4/2024,1,+49 1\n2,,7,3,1,5/6/2024,2,\n"
      ), ("cities.csv", "code,name\nB,Bath\n"),
    ])
    #expect(
      found.map { "\($0.kind.rawValue) \($0.entity).\($0.property ?? "")" } == [
        "optional Person.fullName", "new_type Person.fee", "new_type Person.size", "new_property Person.phone",
        "missing_column Person.code", "new_entity City.",
      ])
    #expect(found[0].text.contains("1 of 2 records have no value"))
    #expect(found[1].element == #"<attribute name="fee" optional="YES" attributeType="Decimal"/>"#)
    #expect(found[2].element == #"<attribute name="size" optional="YES" attributeType="Integer 64"/>"#)
    #expect(found[3].element == #"<attribute name="phone" optional="YES" attributeType="String"/>"#)
  }

  @Test("is nothing where imports read a column's texts as the attribute's type, though none is inferred from them")
  func readAnyway() throws {
    let entity = EntityDefinition(
      "Thing",
      attributes: [
        AttributeDefinition("ok", .boolean), AttributeDefinition("big", .double),
        AttributeDefinition("count", .integer64),
        AttributeDefinition("small", .integer64), AttributeDefinition("whole", .integer64),
        AttributeDefinition("day", .date),
      ])
    let model = try ManagedObjectModel(entities: [entity])
    let text = "ok,big,count,small,whole,day\ny,1e3,1e3,1e-3,1.0,y\nN,2e5,2,2,2.0,n\n"
    let changes = ModelComparison(of: model, with: try InferenceRoom().infer([("things.csv", text)])).changes
    #expect(changes.map { "\($0.property ?? "") \($0.kind.rawValue)" } == ["small new_type", "day new_type"])
    #expect(changes[0].text.contains("make it Double"))
    #expect(changes[1].text.contains("make it String"))
  }

  @Test("counts whole numbers in every notation, and by their range")
  func wholeNumbers() throws {
    let entity = EntityDefinition(
      "Thing",
      attributes: [
        AttributeDefinition("huge", .integer64), AttributeDefinition("digits", .integer64),
        AttributeDefinition("power", .integer64), AttributeDefinition("least", .integer64),
        AttributeDefinition("small", .integer16), AttributeDefinition("wide", .integer16),
        AttributeDefinition("thousands", .integer32), AttributeDefinition("billions", .integer32),
      ])
    let model = try ManagedObjectModel(entities: [entity])
    let files = [
      (
        "things.csv",
        "huge,digits,power,least,small,wide,thousands,billions\n"
          + "1e30,12345678901234567890.0,1e19,-9223372036854775808.0,1.0,1.0,1e3,1e3\n"
          + "1e3,1.0,1e3,-0.0,-32768.0,32768.0,2e9,3e9\n"
      ),
      (
        "things.json",
        #"[{"huge":1e30,"digits":12345678901234567890.0,"power":1e19,"least":-9223372036854775808.0,"small":1.0,"#
          + #""wide":32768.0,"thousands":1e3,"billions":3e9},{"huge":1,"digits":1,"power":1,"least":1,"small":2,"#
          + #""wide":1,"thousands":2,"billions":1}]"#
      ),
    ]
    for file in files {
      let changes = ModelComparison(of: model, with: try InferenceRoom().infer([file])).changes
      #expect(
        changes.filter { $0.kind == .newType }.map { $0.property ?? "" } == [
          "huge", "digits", "power", "wide", "billions",
        ], "\(file.0): \(changes.map(\.text))")
    }
  }

  @Test("is nothing where the files fit")
  func nothing() throws {
    let fitting = "id,name,code,age,fee,size,joined,team_id\n1,Ada,x,41,10,70,3/4/2024,1\n"
    #expect(try changes([("people.csv", fitting)]).isEmpty)
  }
}
