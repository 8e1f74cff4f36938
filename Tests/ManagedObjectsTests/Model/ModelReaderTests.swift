import Foundation
import Testing

@testable import ManagedObjects

@Suite("What a model file says")
struct ModelReaderTests {
  @Test("an attribute has everything the file says of it")
  func attribute() throws {
    let model = try ModelFixture.read(
      """
      <entity name="E" representedClassName=".E" codeGenerationType="class" elementID="Old" versionHashModifier="v">
        <attribute name="s" optional="YES" attributeType="String" defaultValueString="" minValueString="2"
          maxValueString="8" regularExpressionString="[a-z]+" elementID="t" versionHashModifier="h" syncable="YES"
          spotlightIndexingEnabled="YES" preservesValueInHistoryOnDeletion="YES"/>
        <attribute name="d" attributeType="Date" defaultDateTimeInterval="86400" minDateTimeInterval="-1"
          maxDateTimeInterval="1.5"/>
        <attribute name="b" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="u" attributeType="UUID" defaultValueString="E621E1F8-C36C-495A-93FC-0C247A3E6E5F"/>
        <attribute name="w" attributeType="URI" defaultValueString="https://example.org/"/>
        <attribute name="x" attributeType="Transformable" valueTransformerName="T" customClassName="C"/>
        <attribute name="i" attributeType="Integer 16" defaultValueString="-32768" usesScalarValueType="YES"/>
        <attribute name="f" attributeType="Float" defaultValueString="0.1"/>
        <attribute name="m" attributeType="Decimal" defaultValueString="12345678901234567890.12"/>
        <attribute name="o" attributeType="Object ID"/>
        <attribute name="n" transient="YES"/>
        <userInfo><entry key="a" value="1"/><entry key="b" value=""/></userInfo>
      </entity>
      """)
    #expect(model.warnings == [])
    let entity = try #require(model.entitiesByName["E"])
    #expect(entity.definition.className == "E")
    #expect(entity.definition.codeGenerationType == "class")
    #expect(entity.definition.renamingIdentifier == "Old")
    #expect(entity.definition.versionHashModifier == "v")
    #expect(entity.userInfo == ["a": "1", "b": ""])
    let all = entity.attributesByName.mapValues(\.definition)
    let text = try #require(all["s"])
    #expect(text.isOptional && text.defaultValue == .string("") && text.regularExpression == "[a-z]+")
    #expect(text.minimumValue == .int(2) && text.maximumValue == .int(8))
    #expect(text.renamingIdentifier == "t" && text.versionHashModifier == "h" && text.preservesValueInHistoryOnDeletion)
    let date = try #require(all["d"])
    #expect(!date.isOptional && date.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 86400)))
    #expect(date.minimumValue == .date(Date(timeIntervalSinceReferenceDate: -1)))
    #expect(date.maximumValue == .date(Date(timeIntervalSinceReferenceDate: 1.5)))
    #expect(all["b"]?.allowsExternalBinaryDataStorage == true)
    #expect(all["u"]?.defaultValue == UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F").map(Value.uuid))
    #expect(all["w"]?.defaultValue == URL(string: "https://example.org/").map(Value.uri))
    #expect(all["x"]?.valueTransformerName == "T" && all["x"]?.attributeValueClassName == "C")
    #expect(all["i"]?.defaultValue == .int(-32768) && all["i"]?.usesScalarValueType == true)
    #expect(all["f"]?.defaultValue == .double(Double(Float(0.1))))
    #expect(all["m"]?.defaultValue == Decimal(string: "12345678901234567890.12").map(Value.decimal))
    #expect(all["o"]?.type == .objectID)
    #expect(all["n"]?.type == .undefined && all["n"]?.isTransient == true)
  }

  @Test("a default value that Xcode keeps after an attribute's type changed is read as its compiler does")
  func formerDefaults() throws {
    let model = try ModelFixture.read(
      """
      <entity name="ProductAttribute" representedClassName="ProductAttribute" syncable="YES">
        <attribute name="attributeID" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="visibility" attributeType="Integer 64" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="variation" attributeType="Integer 16" defaultValueString="YES" usesScalarValueType="YES"/>
        <attribute name="position" attributeType="Integer 32" defaultValueString="0.0" usesScalarValueType="YES"/>
        <attribute name="weight" attributeType="Double" defaultValueString="YES" usesScalarValueType="YES"/>
        <attribute name="price" attributeType="Decimal" defaultValueString="NO"/>
        <attribute name="taxable" attributeType="Boolean" defaultValueString="1.0" usesScalarValueType="YES"/>
        <attribute name="name" attributeType="String" defaultValueString="NO"/>
      </entity>
      """)
    let values = try #require(model.entitiesByName["ProductAttribute"]).attributesByName.mapValues(\.defaultValue)
    #expect(
      values == [
        "attributeID": .int(0), "visibility": .int(0), "variation": .int(1), "position": .int(0), "weight": .double(1),
        "price": .decimal(0), "taxable": .bool(true), "name": .string("NO"),
      ])
  }

  @Test("a relationship has its bounds, rule, inverse and names; without optional it isn't optional")
  func relationship() throws {
    let model = try ModelFixture.read(
      """
      <entity name="A">
        <relationship name="bs" toMany="YES" minCount="1" maxCount="5" ordered="YES" deletionRule="Deny"
          destinationEntity="B" inverseName="a" inverseEntity="B" elementID="old"><userInfo><entry key="k" value="v"/>
          </userInfo></relationship>
        <relationship name="free" optional="YES" toMany="YES" deletionRule="No Action" destinationEntity="B"/>
      </entity>
      <entity name="B">
        <relationship name="a" optional="YES" maxCount="1" destinationEntity="A" inverseName="bs" inverseEntity="A"/>
      </entity>
      """)
    let many = try #require(model.entitiesByName["A"]?.relationshipsByName["bs"])
    #expect(many.definition.minimumCount == 1 && many.definition.maximumCount == 5)
    #expect(many.isToMany && many.isOrdered && !many.isOptional && many.deleteRule == .deny)
    #expect(many.renamingIdentifier == "old" && many.userInfo == ["k": "v"])
    #expect(many.inverseRelationship?.name == "a")
    let free = try #require(model.entitiesByName["A"]?.relationshipsByName["free"])
    #expect(free.definition.maximumCount == 0 && free.deleteRule == .noAction && free.inverseRelationship == nil)
    let one = try #require(model.entitiesByName["B"]?.relationshipsByName["a"])
    #expect(one.definition.maximumCount == 1 && one.deleteRule == .nullify && one.isOptional)
  }

  @Test("indexes of all three notations are read, and none twice")
  func indexes() throws {
    let model = try ModelFixture.read(
      """
      <entity name="A">
        <attribute name="x" attributeType="String" indexed="YES"/>
        <attribute name="y" attributeType="Double" indexed="YES"/>
        <fetchIndex name="byX"><fetchIndexElement property="x" type="Binary" order="ascending"/></fetchIndex>
        <fetchIndex name="area" partialIndexPredicate="y > 1">
          <fetchIndexElement property="y" type="RTree" order="descending"/>
          <fetchIndexElement expression="lowercase:(x)" expressionType="String" type="Binary" order="ascending"/>
        </fetchIndex>
        <compoundIndexes><compoundIndex><index value="x"/><index value="y"/></compoundIndex></compoundIndexes>
      </entity>
      """)
    #expect(model.warnings == [])
    let indexes = try #require(model.entitiesByName["A"]?.indexes)
    #expect(indexes.map(\.name) == ["byX", "area", "byYIndex", "byXYIndex"])
    #expect(indexes[1].partialPredicateFormat == "y > 1")
    #expect(indexes[1].elements[0].collation == "RTree" && !indexes[1].elements[0].isAscending)
    #expect(indexes[1].elements[1].expression == "lowercase:(x)" && indexes[1].elements[1].property == nil)
    #expect(indexes[3].elements.map(\.property) == ["x", "y"])
  }

  @Test("fetched properties, templates, configurations and composites are read")
  func others() throws {
    let model = try ModelFixture.read(
      """
      <entity name="A">
        <attribute name="home" optional="YES" attributeType="Composite" compositeName="Address"/>
        <fetchedProperty name="fresh" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="A" predicateString="home != nil"/>
          <userInfo><entry key="k" value="v"/></userInfo>
        </fetchedProperty>
      </entity>
      <composite name="Address">
        <attribute name="city" optional="YES" attributeType="String"/>
        <attribute name="place" optional="YES" attributeType="Composite" compositeName="Point"/>
      </composite>
      <composite name="Point"><attribute name="x" attributeType="Double" defaultValueString="0"/></composite>
      <fetchRequest name="some" entity="A" fetchLimit="7" fetchBatchSize="20" includeSubentities="NO"
        predicateString="home == $H"/>
      <configuration name="Local" usedWithCloudKit="NO"><memberEntity name="A"/></configuration>
      """)
    #expect(model.warnings == [])
    let entity = try #require(model.entitiesByName["A"])
    let fetched = try #require(entity.definition.fetchedProperties.first)
    #expect(fetched.entityName == "A" && fetched.predicateFormat == "home != nil" && fetched.userInfo == ["k": "v"])
    let home = try #require(entity.compositeAttributesByName["home"]?.definition)
    #expect(entity.properties.map(\.name) == ["home.city", "home.place.x"])
    #expect(home.compositeName == "Address")
    #expect(home.compositeElements.map(\.name) == ["city", "place"])
    #expect(home.compositeElements[1].compositeElements.map(\.defaultValue) == [.double(0)])
    let template = try #require(model.fetchRequestTemplates["some"])
    #expect(template.fetchLimit == 7 && template.fetchBatchSize == 20 && !template.includesSubentities)
    #expect(model.configurations == ["Local": ["A"]])
  }

  @Test("classes are found by the name after the leading dot")
  func classes() throws {
    final class Thing: ManagedObject {}
    let fixture = try ModelFixture()
    let url = try fixture.write(
      ModelFixture.model("<entity name=\"E\" representedClassName=\".Thing\"/>"), to: "contents")
    let model = try ManagedObjectModel(contentsOf: url, classes: ["Thing": Thing.self])
    #expect(model.entitiesByName["E"]?.objectClass == Thing.self)
  }

  @Test("what isn't known is a warning with file and line, and the rest is read")
  func warnings() throws {
    let model = try ModelFixture.read(
      """
      <entity name="A" colour="red">
        <attribute name="x" attributeType="Vector" defaultValueString="1"/>
        <attribute name="y" attributeType="String" sorted="YES" taste="sweet"/>
        words
        <widget name="w"><attribute name="hidden"/></widget>
        <userInfo><entry key="k" value="1"/><entry key="k" value="2" extra="3"/><thing/></userInfo>
        <relationship name="r" maxCount="3" destinationEntity="A"/>
      </entity>
      <gadget/>
      """)
    let found = model.warnings.map { "\($0.line ?? 0) \($0.message)" }
    for expected in [
      "2 A's colour isn't known", "3 x's attributeType “Vector” isn't known", "3 x's defaultValueString has no effect",
      "4 y's sorted isn't known", "4 y's taste isn't known", "text inside <entity>", "6 <widget> in entity A",
      "7 the userInfo key “k”", "7 <entry>'s extra isn't known", "7 <thing> in userInfo", "8 r has maxCount 3",
      "10 <gadget> in model",
    ] {
      #expect(found.contains { $0.contains(expected) }, "\(expected) in \(found)")
    }
    #expect(found.count == 12)
    #expect(model.warnings.allSatisfy { $0.file.hasSuffix("/contents") })
    #expect(model.entitiesByName["A"]?.attributes.map(\.name) == ["x", "y"])
  }

  @Test("an attribute type that isn't known comes with those that are")
  func attributeTypes() throws {
    let model = try ModelFixture.read(
      """
      <entity name="A">
        <attribute name="near" attributeType="string"/>
        <attribute name="far" attributeType="Quaternion"/>
      </entity>
      """)
    #expect(model.warnings.count == 2)
    #expect(model.warnings[0].message.contains("did you mean “String”?"))
    #expect(model.warnings[1].message.contains("it can be Integer 16, Integer 32, "))
  }

  @Test("entities that don't fit together are inconsistent, not malformed")
  func inconsistent() throws {
    guard case .inconsistent(let problems)? = try ModelFixture.error("<entity name=\"A\" parentEntity=\"None\"/>")
    else {
      Issue.record("no error")
      return
    }
    #expect(problems.count == 1)
  }
}
