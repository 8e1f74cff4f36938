import Foundation
import Testing

@testable import ManagedObjects

@Suite("A model's summary")
struct ModelSummaryTests {
  let body = """
    <entity name="Country" representedClassName="Land" elementID="State">
      <attribute name="code" attributeType="String" minValueString="2" maxValueString="3"/>
      <attribute name="population" optional="YES" attributeType="Integer 64" defaultValueString="0"/>
      <relationship name="towns" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Town"
        inverseName="country" inverseEntity="Town"/>
      <uniquenessConstraints><uniquenessConstraint><constraint value="code"/></uniquenessConstraint></uniquenessConstraints>
      <fetchIndex name="bySize"><fetchIndexElement property="population" type="Binary" order="descending"/></fetchIndex>
    </entity>
    <entity name="Town" isAbstract="YES">
      <relationship name="country" maxCount="1" deletionRule="Nullify" destinationEntity="Country" inverseName="towns"
        inverseEntity="Country"><userInfo><entry key="relatedByAttribute" value="code"/></userInfo></relationship>
    </entity>
    <oddity/>
    """

  @Test("its text stands in columns, with what the model couldn't use at the end")
  func text() throws {
    let text = try ModelFixture.read(body).summary().text
    #expect(
      text.hasPrefix(
        """
        2 entities, 1 warning

        Country (class Land, was State)
          code        String        required  2 to 3 characters
          population  Integer 64    optional  default 0
          towns       to many Town  optional  inverse country; on delete cascade
          unique: code
          index bySize: population descending

        Town (abstract)
          country  to one Country  required  inverse towns; on delete nullify; relatedByAttribute=code

        Warnings

        """), "\(text)")
    #expect(text.hasSuffix(": <oddity> in model isn't known and has no effect\n"))
  }

  @Test("it survives JSON")
  func json() throws {
    let summary = try ModelFixture.read(body).summary()
    let decoded = try JSONDecoder().decode(ModelSummary.self, from: JSONEncoder().encode(summary))
    #expect(decoded == summary)
    #expect(decoded.entities[0].relationships[0].deleteRule == .cascade)
    #expect(decoded.warnings.count == 1)
  }

  @Test("control characters in a name don't reach the terminal")
  func controls() {
    #expect(TextColumns.aligned([["a\u{1B}[31m", "b"], ["é", ""]], indent: 1) == [" a [31m  b", " é"])
  }
}
