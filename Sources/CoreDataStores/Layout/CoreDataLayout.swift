package import ManagedObjects

/// Where a file of Core Data's keeps the objects of a model: the number of each entity, and the tables and columns of each
/// property. Reading, writing and a store in place all go by it.
///
/// A layout is either that of a file (``init(_:of:)``), whose names are taken as they are, or that of a new file
/// (``init(of:)``), named as current frameworks name them.
///
/// | | |
/// |---|---|
/// | a hierarchy of entities | one table, `Z<ROOT>`, with `Z_PK`, `Z_ENT` (the entity's number) and `Z_OPT` (1, plus 1 for each update) |
/// | an attribute | the column `Z<NAME>`, of the first of siblings with this name; `Z<NAME>1` and so on of the others |
/// | an element of a composite | the column `Z<ELEMENT>`, as that of an attribute |
/// | a to-one relationship | the column `Z<NAME>` with the target's `Z_PK`; if the destination has subentities, also `Z<number>_<NAME>` with the target's `Z_ENT` |
/// | an ordered to-many relationship with a to-one inverse | the inverse's column, and beside it `Z_FOK_<INVERSE>` with a key to sort by |
/// | a relationship between many and many | the table `Z_<number><NAME>` with a column for each end, and `Z_FOK_<number><NAME>` with a key to sort by for an ordered one |
package struct CoreDataLayout: Sendable {
  /// An entity of the model in the file.
  package struct Entity: Sendable, Equatable {
    /// `Z_ENT`.
    package var number: Int64
    /// The number of the entity that it inherits from, 0 for none.
    package var parent: Int64
    /// The table of its hierarchy.
    package var table: String
  }

  /// The columns of a to-one relationship, in the table of its own entity.
  package struct Reference: Sendable, Equatable {
    /// The target's `Z_PK`.
    package var column: String
    /// The target's `Z_ENT`.
    package var entityColumn: String?
    /// The key that sorts the objects of an ordered inverse.
    package var orderColumn: String?
  }

  /// The table of a relationship between many and many, as seen from one of its ends.
  package struct Join: Sendable, Equatable {
    package var table: String
    /// The column with the `Z_PK` of the objects that have the relationship.
    package var source: String
    /// The column with the `Z_PK` of the objects that it leads to.
    package var target: String
    /// The key that sorts the objects that it leads to, if this end is ordered.
    package var order: String?

    /// The same table, seen from the other end.
    func reversed(order: String?) -> Join { Join(table: table, source: target, target: source, order: order) }
  }

  /// Where a relationship is kept.
  package enum Relationship: Sendable, Equatable {
    /// In its own entity's table.
    case toOne(Reference)
    /// In the table of the destination, by the columns of its inverse, which is to-one.
    case toMany(Reference)
    /// In a table of its own.
    case join(Join)
  }

  /// A property that the file doesn't keep, or not where the model says.
  package struct Problem: Sendable, Equatable {
    /// `Entity.property`.
    package var place: String
    /// What is wrong, without its place.
    package var reason: String
    /// Whether there is more than one place for it. Otherwise there is none.
    package var isAmbiguous: Bool
  }

  /// The file's own model, or that of a new file.
  package let model: ManagedObjectModel
  /// The file's tables, as they are or are to be.
  package internal(set) var schema: CoreDataSchema
  /// What couldn't be found in a file; empty for a new one.
  package internal(set) var problems: [PropertyDescription: Problem] = [:]
  var entities: [EntityDescription: Entity] = [:]
  var columns: [AttributeDescription: String] = [:]
  var relationships: [RelationshipDescription: Relationship] = [:]

  init(_ model: ManagedObjectModel, _ schema: CoreDataSchema) {
    self.model = model
    self.schema = schema
  }

  /// An entity of the model in the file; nil if it isn't there.
  package func entity(_ entity: EntityDescription) -> Entity? { entities[entity] }

  /// The entity with a number; nil if the model has none for it.
  package func entity(numbered number: Int64) -> EntityDescription? {
    entities.first { $0.value.number == number }?.key
  }

  /// The column of an attribute; nil if it isn't stored, and for ``problems``.
  package func column(of attribute: AttributeDescription) -> String? { columns[attribute] }

  /// Where a relationship is kept; nil if it isn't stored, and for ``problems``.
  package func place(of relationship: RelationshipDescription) -> Relationship? { relationships[relationship] }

  /// The entities of the model in the file, in the order of their numbers.
  package var numberedEntities: [(description: EntityDescription, entity: Entity)] {
    entities.map { ($0.key, $0.value) }.sorted { $0.entity.number < $1.entity.number }
  }

  /// The joins, each once, in the order of their tables' names.
  package var joins: [(relationship: RelationshipDescription, join: Join)] {
    var seen: Set<String> = []
    return relationships.compactMap { relationship, place in
      if case .join(let join) = place { (relationship, join) } else { nil }
    }.sorted { ($0.1.table, $0.0.entity.name, $0.0.name) < ($1.1.table, $1.0.entity.name, $1.0.name) }
      .filter { seen.insert($0.1.table).inserted }
  }
}

/// The names that Core Data gives.
enum CoreDataName {
  /// The column of a property, or the table of an entity. An element of a composite has the element's own name.
  static func column(_ name: String) -> String { "Z" + (name.split(separator: ".").last ?? "").uppercased() }

  /// The declared type of an attribute's column; nil if it isn't stored.
  static func type(_ type: AttributeType) -> String? {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: "INTEGER"
    case .double, .float: "FLOAT"
    case .date: "TIMESTAMP"
    case .decimal: "DECIMAL"
    case .string, .uri: "VARCHAR"
    case .uuid, .binaryData, .transformable: "BLOB"
    case .objectID, .composite, .undefined: nil
    }
  }

  /// The place of an attribute's column among those of its table: integers and references, numbers with a fraction and dates,
  /// decimals, texts, then what is binary.
  static func group(_ type: AttributeType) -> Int {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: 0
    case .double, .float, .date: 1
    case .decimal: 2
    case .string: 3
    case .uri: 4
    case .uuid: 5
    case .transformable: 6
    case .binaryData, .objectID, .composite, .undefined: 7
    }
  }
}

extension EntityDescription {
  /// The attributes that it declares and a file keeps, in the order in which Core Data names columns.
  var storedOwnAttributes: [AttributeDescription] {
    attributes.filter { $0.entity === self && !$0.isTransient && CoreDataName.type($0.type) != nil }
      .sorted { $0.name < $1.name }
  }

  /// The relationships that it declares and a file keeps, in the order in which Core Data names columns.
  var storedOwnRelationships: [RelationshipDescription] {
    relationships.filter { $0.entity === self && !$0.isUnstored }.sorted { $0.name < $1.name }
  }
}
