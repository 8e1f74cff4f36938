package import ManagedObjects

/// A model with every kind of relationship and every delete rule, for tests of contexts and stores.
///
/// - one-to-many with its inverse: `Company.employees` (nullify), `departments` (cascade), `contracts` (deny), `notes` (no
///   action);
/// - one-to-one: `Person.desk`; many-to-many: `Person.projects`; many-to-many with itself: `Person.friends`;
/// - without an inverse: `Person.birthplace`, `Person.visited`;
/// - inheritance: `Manager` is a `Person`; a primary key of the model's own: `City.code`;
/// - unique: a person's `email`, a company's `country` and `registration` together.
package enum CompanyModel {
  package static let model: ManagedObjectModel = make(definitions)

  /// The model without a person's `email` column or the table of desks: what another version of a program may open.
  package static let older: ManagedObjectModel = make(
    definitions.filter { $0.name != "Desk" }.map { entity in
      guard entity.name == "Person" else { return entity }
      var entity = entity
      entity.attributes.removeAll { $0.name == "email" }
      entity.relationships.removeAll { $0.name == "desk" }
      entity.uniquenessConstraints = []
      return entity
    }, classes: [:])

  package static let classes: [String: ManagedObject.Type] = [
    "Person": Person.self, "Manager": Manager.self, "Company": Company.self, "Department": Department.self,
    "Contract": Contract.self, "Note": Note.self, "Desk": Desk.self, "Project": Project.self, "City": City.self,
    "Sample": Sample.self,
  ]

  private static func make(
    _ definitions: [EntityDefinition], classes: [String: ManagedObject.Type] = classes
  ) -> ManagedObjectModel {
    do {
      return try ManagedObjectModel(entities: definitions, configurations: ["samples": ["Sample"]], classes: classes)
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }

  private static let definitions = people + companies + [sample]

  private static let people: [EntityDefinition] = [
    EntityDefinition(
      "Person",
      attributes: [
        AttributeDefinition(
          "name", .string, isOptional: false, defaultValue: .string("nobody"), minimumValue: .int(2),
          maximumValue: .int(40)),
        AttributeDefinition("email", .string, regularExpression: "[^@]+@[^@]+"),
        AttributeDefinition("age", .integer32, minimumValue: .int(0), maximumValue: .int(150)),
      ],
      relationships: [
        RelationshipDefinition("employer", to: "Company", inverse: "employees"),
        RelationshipDefinition("desk", to: "Desk", inverse: "occupant"),
        RelationshipDefinition("projects", to: "Project", inverse: "members", isToMany: true),
        RelationshipDefinition("friends", to: "Person", inverse: "friends", isToMany: true),
        RelationshipDefinition("birthplace", to: "City"),
        RelationshipDefinition("visited", to: "City", isToMany: true),
      ],
      uniquenessConstraints: [["email"]]),
    EntityDefinition("Manager", parent: "Person", attributes: [AttributeDefinition("budget", .decimal)]),
    EntityDefinition(
      "Desk", attributes: [AttributeDefinition("label", .string)],
      relationships: [RelationshipDefinition("occupant", to: "Person", inverse: "desk")]),
    EntityDefinition(
      "Project", attributes: [AttributeDefinition("title", .string)],
      relationships: [RelationshipDefinition("members", to: "Person", inverse: "projects", isToMany: true)]),
    EntityDefinition(
      "City",
      attributes: [
        AttributeDefinition("code", .integer64, isOptional: false), AttributeDefinition("name", .string),
      ],
      userInfo: ["primaryKey": "code"]),
  ]

  private static let companies: [EntityDefinition] = [
    EntityDefinition(
      "Company",
      attributes: [
        AttributeDefinition("name", .string, isOptional: false), AttributeDefinition("country", .string),
        AttributeDefinition("registration", .integer64),
      ],
      relationships: [
        RelationshipDefinition("employees", to: "Person", inverse: "employer", isToMany: true, deleteRule: .nullify),
        RelationshipDefinition(
          "departments", to: "Department", inverse: "company", isToMany: true, deleteRule: .cascade),
        RelationshipDefinition("contracts", to: "Contract", inverse: "company", isToMany: true, deleteRule: .deny),
        RelationshipDefinition("notes", to: "Note", inverse: "company", isToMany: true, deleteRule: .noAction),
      ],
      uniquenessConstraints: [["country", "registration"]]),
    EntityDefinition(
      "Department", attributes: [AttributeDefinition("name", .string)],
      relationships: [
        RelationshipDefinition("company", to: "Company", inverse: "departments", isOptional: false)
      ]),
    EntityDefinition(
      "Contract", attributes: [AttributeDefinition("number", .integer64)],
      relationships: [RelationshipDefinition("company", to: "Company", inverse: "contracts")]),
    EntityDefinition(
      "Note", attributes: [AttributeDefinition("text", .string)],
      relationships: [RelationshipDefinition("company", to: "Company", inverse: "notes")]),
  ]

  /// Every attribute type, and each way to store a date.
  private static let sample = EntityDefinition(
    "Sample",
    attributes: [
      AttributeDefinition("small", .integer16), AttributeDefinition("medium", .integer32),
      AttributeDefinition("large", .integer64, defaultValue: .int(7)), AttributeDefinition("amount", .decimal),
      AttributeDefinition("ratio", .double), AttributeDefinition("part", .float), AttributeDefinition("text", .string),
      AttributeDefinition("flag", .boolean), AttributeDefinition("day", .date),
      AttributeDefinition("instant", .date, userInfo: ["dateStorage": "unix"]),
      AttributeDefinition("bytes", .binaryData),
      AttributeDefinition("uid", .uuid), AttributeDefinition("site", .uri),
      AttributeDefinition("shape", .transformable),
      AttributeDefinition("mood", .string, isTransient: true),
    ])
}
