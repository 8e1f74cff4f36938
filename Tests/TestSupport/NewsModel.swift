package import ManagedObjects

/// A model with derived attributes of every kind.
package enum NewsModel {
  package static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: definitions)
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  private static func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDefinition {
    AttributeDefinition(name, type, derivationExpression: expression)
  }

  package static let definitions: [EntityDefinition] = [
    EntityDefinition("Country", attributes: [AttributeDefinition("name", .string)]),
    EntityDefinition(
      "Category",
      attributes: [
        AttributeDefinition("name", .string), derived("articlesCount", .integer64, "articles.@count"),
        derived("views", .integer32, "articles.@sum.views"), derived("worth", .decimal, "articles.price.@sum"),
      ],
      relationships: [
        RelationshipDefinition("articles", to: "Article", inverse: "category", isToMany: true),
        RelationshipDefinition("country", to: "Country"),
      ]),
    EntityDefinition(
      "Article",
      attributes: [
        AttributeDefinition("name", .string), AttributeDefinition("views", .integer64),
        AttributeDefinition("price", .decimal), derived("searchName", .string, "canonical:(name)"),
        derived("lower", .string, "lowercase:(name)"), derived("upper", .string, "uppercase:(name)"),
        derived("modified", .date, "now()"), derived("categoryName", .string, "category.name"),
        derived("countryName", .string, "uppercase:(category.country.name)"),
      ],
      relationships: [
        RelationshipDefinition("category", to: "Category", inverse: "articles"),
        RelationshipDefinition("tags", to: "Tag", inverse: "articles", isToMany: true),
      ]),
    EntityDefinition("Feature", parent: "Article"),
    EntityDefinition(
      "Tag",
      attributes: [
        AttributeDefinition("name", .string), derived("articlesCount", .integer16, "articles.@count"),
        derived("views", .double, "articles.@sum.views"),
      ],
      relationships: [RelationshipDefinition("articles", to: "Article", inverse: "tags", isToMany: true)]),
    EntityDefinition(
      "Reader",
      attributes: [AttributeDefinition("name", .string), derived("savedCount", .integer64, "saved.@count")],
      relationships: [RelationshipDefinition("saved", to: "Article", isToMany: true)]),
  ]
}
