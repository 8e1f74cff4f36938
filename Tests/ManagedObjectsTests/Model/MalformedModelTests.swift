import Foundation
import Testing

@testable import ManagedObjects

@Suite("Model files that can't be read")
struct MalformedModelTests {
  @Test(
    "a value that its attribute doesn't allow is an error with its line",
    arguments: [
      ("Integer 16", "defaultValueString", "abc"), ("Integer 16", "defaultValueString", "32768"),
      ("Integer 64", "defaultValueString", "1.5"), ("Integer 32", "minValueString", "1x"),
      ("Double", "defaultValueString", "0x10"), ("Double", "defaultValueString", "inf"),
      ("Double", "defaultValueString", "1e999"), ("Float", "defaultValueString", "1e39"),
      ("Decimal", "defaultValueString", "12abc"), ("Boolean", "defaultValueString", "perhaps"),
      ("Date", "defaultDateTimeInterval", "today"), ("Date", "maxDateTimeInterval", "-"),
      ("UUID", "defaultValueString", "1234"), ("String", "maxValueString", "-1"), ("String", "optional", "true"),
    ])
  func badValue(type: String, name: String, text: String) throws {
    let error = try ModelFixture.error(
      "<entity name=\"E\">\n<attribute name=\"a\" attributeType=\"\(type)\" \(name)=\"\(text)\"/>\n</entity>")
    let place = try #require(error?.place)
    #expect(place.line == 3)
    #expect(place.reason.contains("a's \(name) is “\(text)”"))
  }

  @Test(
    "what is missing or impossible is an error with its line",
    arguments: [
      "<attribute attributeType=\"String\"/>", "<relationship name=\"r\"/>",
      "<relationship name=\"r\" destinationEntity=\"E\" deletionRule=\"Explode\"/>",
      "<relationship name=\"r\" destinationEntity=\"E\" toMany=\"YES\" maxCount=\"-1\"/>", "<fetchIndex name=\"i\"/>",
      "<fetchIndex name=\"i\"><fetchIndexElement/></fetchIndex>",
      "<fetchIndex name=\"i\"><fetchIndexElement property=\"p\" order=\"up\"/></fetchIndex>",
      "<fetchedProperty name=\"f\"/>", "<uniquenessConstraints><uniquenessConstraint/></uniquenessConstraints>",
      "<attribute name=\"d\" attributeType=\"String\" derived=\"YES\"/>", "<userInfo><entry value=\"v\"/></userInfo>",
      "<attribute name=\"c\" attributeType=\"Composite\" compositeName=\"Nothing\"/>",
    ])
  func badElement(xml: String) throws {
    let error = try ModelFixture.error("<entity name=\"E\">\n\(xml)\n</entity>")
    #expect(error?.place?.line == 3, "\(String(describing: error))")
  }

  @Test("every mistake of a file is reported at once, with its line, and so is what doesn't fit together")
  func everyMistake() throws {
    let error = try ModelFixture.error(
      """
      <entity name="A">
        <attribute name="x" attributeType="Integer 16" optional="true" defaultValueString="abc"/>
        <relationship name="r" destinationEntity="B" deletionRule="Explode" toMany="maybe" maxCount="-1"/>
        <relationship name="s" destinationEntity="Nowhere"/>
        <userInfo><entry value="v"/></userInfo>
      </entity>
      <entity name="B"/>
      """)
    guard case .malformed(let mistakes)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(mistakes.map(\.line) == [3, 3, 4, 4, 4, 6, nil])
    for (mistake, words) in zip(
      mistakes,
      ["optional", "defaultValueString", "toMany", "maxCount", "deletionRule", "no key", "A.s leads to Nowhere"])
    {
      #expect(mistake.reason.contains(words), "\(mistake)")
    }
    #expect(error?.description.split(separator: "\n").count == 7)
  }

  @Test("after an element that can't be read at all, the others are still looked at")
  func leftOut() throws {
    let error = try ModelFixture.error(
      """
      <entity name="A">
        <attribute attributeType="String"/>
        <attribute name="x" attributeType="Boolean" defaultValueString="perhaps"/>
      </entity>
      <entity/>
      <configuration name="c"><memberEntity/></configuration>
      """)
    guard case .malformed(let mistakes)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(mistakes.map(\.line) == [3, 4, 6, 7])
  }

  @Test("composite types that contain each other are refused")
  func circularComposites() throws {
    let error = try ModelFixture.error(
      """
      <composite name="A"><attribute name="b" attributeType="Composite" compositeName="B"/></composite>
      <composite name="B"><attribute name="a" attributeType="Composite" compositeName="A"/></composite>
      """)
    #expect(error?.place?.reason.contains("A, B contain each other") == true)
  }

  @Test(
    "XML that isn't well-formed is an error with its line",
    arguments: [
      ("", 1), ("  \n ", 2), ("hello", 1), ("<model>\n<entity name='A'>\n</model>", 3), ("<model>\n<entity", 2),
      ("<model>\n<entity name='A' name='B'/></model>", 2), ("<model>\n&lol;</model>", 2), ("<model/>\n<model/>", 2),
      ("<plist/>", 1), ("<model>\n<entity name=A/></model>", 2),
    ])
  func malformed(text: String, line: Int) throws {
    let fixture = try ModelFixture()
    let url = try fixture.write(text, to: "contents")
    let error = try #require(throws: ModelError.self) { try ManagedObjectModel(contentsOf: url) }
    #expect(error.place?.line == line, "\(error)")
    #expect(error.description.hasPrefix("\(url.path):\(line): "))
  }

  @Test("a hundred thousand elements inside each other are an error, not a stack overflow")
  func depth() throws {
    let nested = String(repeating: "<x>", count: 100_000) + String(repeating: "</x>", count: 100_000)
    let error = try ModelFixture.error(nested)
    #expect(error?.place?.reason.contains("nested more than 64 deep") == true)
    #expect(error?.place?.line == 2)
  }

  @Test("a document type is refused before any entity of it can be read")
  func entities() throws {
    let bomb = """
      <?xml version="1.0"?>
      <!DOCTYPE model [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY x SYSTEM "/etc/passwd">]>
      <model><entity name="&b;"/></model>
      """
    let fixture = try ModelFixture()
    let url = try fixture.write(bomb, to: "contents")
    let error = try #require(throws: ModelError.self) { try ManagedObjectModel(contentsOf: url) }
    #expect(error.place?.line == 2)
    #expect(error.place?.reason.contains("document type") == true)
  }

  @Test("another encoding can't hide a document type")
  func encodings() throws {
    let fixture = try ModelFixture()
    let text = "<?xml version=\"1.0\" encoding=\"UTF-7\"?>\n+ADwAIQ-DOCTYPE model+AD4-<model/>"
    let seven = try fixture.write(text, to: "seven")
    let error = try #require(throws: ModelError.self) { try ManagedObjectModel(contentsOf: seven) }
    #expect(error.place?.reason.contains("UTF-7") == true)
    let wide = fixture.folder.appendingPathComponent("wide")
    try #require("<!DOCTYPE model><model/>".data(using: .utf16)).write(to: wide)
    let second = try #require(throws: ModelError.self) { try ManagedObjectModel(contentsOf: wide) }
    #expect(second.place?.reason.contains("zero byte") == true)
  }
}
