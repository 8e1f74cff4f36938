import ManagedObjects
import Testing

@Suite("Derivation expressions")
struct DerivationTextTests {
  private func problem(_ expression: String, _ type: AttributeType = .string) -> String? {
    let derived = AttributeDefinition("derived", type, derivationExpression: expression)
    do {
      _ = try ManagedObjectModel(entities: [
        EntityDefinition(
          "A",
          attributes: [
            derived, AttributeDefinition("name", .string), AttributeDefinition("age", .integer16),
            AttributeDefinition("seen", .date), AttributeDefinition("mood", .string, isTransient: true),
            AttributeDefinition("low", .string, derivationExpression: "lowercase:(name)"),
          ],
          relationships: [
            RelationshipDefinition("mother", to: "A", inverse: "children"),
            RelationshipDefinition("children", to: "A", inverse: "mother", isToMany: true),
          ])
      ])
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test(
    "those that can be derived",
    arguments: [
      ("now()", .date), ("now:()", .date), ("name", .string), ("mother.name", .string),
      ("mother.mother.seen", .date), ("canonical:(name)", .string), ("lowercase:( mother.name )", .string),
      ("uppercase(name)", .string), ("children.@count", .integer64), ("children.@sum.age", .integer64),
      ("children.age.@sum", .double), ("age", .decimal),
    ] as [(String, AttributeType)])
  func possible(_ expression: String, _ type: AttributeType) { #expect(problem(expression, type) == nil) }

  @Test(
    "those that can't, each with what is wrong",
    arguments: [
      ("now(", .date, "it can be"), ("", .string, "it can be"), ("soundex:(name)", .string, "it can be"),
      ("children.@avg.age", .double, "it can be"), ("nobody", .string, "no property nobody"),
      ("mother", .string, "leads to an object"), ("children.name", .string, "isn't a stored to-one"),
      ("mother.@count", .integer64, "isn't a stored to-many"), ("children.@sum.name", .integer64, "isn't a number"),
      ("name", .date, "of type Date"), ("canonical:(age)", .string, "is for strings"), ("mood", .string, "transient"),
      ("low", .string, "derived itself"), ("now()", .string, "of type String"),
    ] as [(String, AttributeType, String)])
  func impossible(_ expression: String, _ type: AttributeType, _ reason: String) {
    let problem = problem(expression, type)
    #expect(problem?.contains(reason) == true && problem?.contains("A.derived") == true, "\(problem ?? "none")")
  }
}
