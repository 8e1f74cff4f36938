import ManagedObjects
import Testing

@testable import Importing

@Suite("Advice on models")
struct ModelAdviceTests {
  private let model = Result {
    try ManagedObjectModel(
      xml: """
        <model>
          <entity name="Customer">
            <attribute name="id" attributeType="Integer 64"><userInfo><entry key="mappedKeyname" value="ID"/></userInfo></attribute>
            <attribute name="thing"/>
            <attribute name="passing" transient="YES"/>
            <relationship name="orders" toMany="YES" destinationEntity="Order" inverseName="customer"/>
            <relationship name="notes" toMany="YES" optional="YES" destinationEntity="Order"/>
            <userInfo><entry key="primarykey" value="id"/><entry key="colour" value="red"/></userInfo>
          </entity>
          <entity name="Order">
            <relationship name="customer" optional="YES" destinationEntity="Customer" inverseName="orders">
              <userInfo><entry key="mappedKeyName.1" value="c"/><entry key="relatedByAtribute" value="id"/></userInfo>
            </relationship>
          </entity>
        </model>
        """, file: "contents")
  }

  @Test("names what keeps records from being imported, and keys that are misspelt")
  func advice() throws {
    #expect(
      ModelAdvice.on(try model.get()) == [
        "Customer's userInfo key primarykey isn't known and has no effect; did you mean primaryKey?",
        "Customer.id's userInfo key mappedKeyname isn't known and has no effect; did you mean mappedKeyName?",
        "Customer.thing has the type Undefined, which no store can hold: give it an attributeType",
        "Customer.orders is to-many and required, so a record of Customer that brings no Order with it is rejected: "
          + "set optional=\"YES\" unless every record brings some",
        "Order.customer's userInfo key relatedByAtribute isn't known and has no effect; did you mean relatedByAttribute?",
      ])
  }

  @Test("a required relationship concerns the entities that are imported")
  func imported() throws {
    let advice = ModelAdvice.on(try model.get(), imported: ["Order"])
    #expect(advice.count == 4)
    #expect(!advice.contains { $0.contains("orders") })
  }
}
