import CoreDataStores
import Importing
import ManagedObjects

/// Which objects and properties of a store become which of a Core Data store, derived from both models before the file is
/// created.
///
/// Entities and properties are those of the same name, or of a former name (`elementID`) in either model. An object keeps the
/// number of its row in the app's store, where its entity has an attribute for it (``CoreDataRowNumbers``); otherwise it gets
/// that of its row in the exported store.
struct CoreDataExportPlan {
  /// How an object's `Z_PK` is made of the columns of a fetched row.
  struct RowNumber {
    /// The column with the number in the app's store.
    var key: Int?
    /// The column with the object's ID.
    var id: Int
    /// The root of the object's hierarchy.
    var root: EntityDescription

    /// The number; nil if there is no object.
    /// - Parameter bases: what is added to the numbers of objects without one in the app's store, by the hierarchies' roots.
    func number(in row: ContiguousArray<Value>, _ bases: [EntityDescription: Int64]) -> Int64? {
      if let key, case .int(let number) = row[key] { return number }
      guard case .object(let id) = row[id] else { return nil }
      return (bases[root] ?? 0) + id.number
    }
  }

  /// What a column of the new row is made of.
  enum Source {
    case constant(Value)
    case rowNumber(RowNumber)
    case attribute(Int, AttributeDescription)
    /// The number of a related object's row, if its entity, whose name is in another column, has rows in the file.
    case reference(RowNumber, entityName: Int?)
    /// The number of an entity.
    case entityNumber(name: Int)
  }

  /// The objects of one entity.
  struct Rows {
    let request: FetchRequest<ManagedObject>
    let sql: String
    let sources: [Source]
  }

  /// The pairs of a relationship to several objects.
  struct Pairs {
    /// The objects that have the relationship: ID, and the number in the app's store.
    let request: FetchRequest<ManagedObject>
    let owner: RowNumber
    let relationship: RelationshipDescription
    /// The slot of the attribute with the number of a related object's row.
    let key: Int?
    let sql: String
    let arguments: [Argument]
  }

  /// An argument for a pair.
  enum Argument { case owner, related, order }

  let layout: CoreDataLayout
  let template: CoreDataTemplate
  private(set) var rows: [Rows] = []
  private(set) var pairs: [Pairs] = []
  /// The attributes with numbers of rows that may be nil, by the roots of their hierarchies.
  private(set) var optionalKeys: [EntityDescription: AttributeDescription] = [:]
  /// What was left out, for people.
  private(set) var notes: [String] = []
  /// The numbers in the file of the store's entities, by their names.
  private(set) var numbers: [String: Int64] = [:]
  /// The store's entities, by those of the file.
  private var matches: [EntityDescription: EntityDescription] = [:]

  /// - Parameters:
  ///   - model: the exported store's.
  ///   - theirs: the template's, if it has none in it; the store's otherwise.
  /// - Throws: ``CoreDataFileError``, ``ModelError``, and ``JobFailure`` for models that don't fit.
  init(_ template: CoreDataTemplate, _ model: ManagedObjectModel, theirs: ManagedObjectModel? = nil) throws {
    self.template = template
    do {
      layout = try template.layout(otherwise: theirs ?? model)
    } catch let error as ModelError {
      throw ExportOptions.bad("the template: \(error)")
    }
    let known = DataEntities.of(model)
    for (theirs, _) in layout.numberedEntities {
      matches[theirs] = known.first { ours in Self.isSame(theirs.definition, ours.definition) }
    }
    for (theirs, ours) in matches { numbers[ours.name] = layout.entity(theirs)?.number }
    let left = known.filter { !$0.isAbstract && numbers[$0.name] == nil }.map(\.name)
    if !left.isEmpty {
      notes.append("left out, as the template doesn't have them: \(left.sorted().joined(separator: ", "))")
    }
    guard !matches.isEmpty else {
      let names = layout.model.entities.map(\.name).sorted().joined(separator: ", ")
      throw ExportOptions.bad("the template is of another model: the store has none of its entities (\(names))")
    }
    try checkHierarchies()
    for (theirs, entity) in layout.numberedEntities {
      guard let ours = matches[theirs], !theirs.isAbstract, !ours.isAbstract else { continue }
      try addRows(theirs, ours, entity)
    }
    for (theirs, _) in layout.numberedEntities {
      for relationship in theirs.relationships where relationship.entity === theirs && relationship.isToMany {
        addOrder(of: relationship)
      }
    }
    for (relationship, join) in layout.joins { addPairs(relationship, join) }
  }

  private static func isSame(_ theirs: EntityDefinition, _ ours: EntityDefinition) -> Bool {
    theirs.name == ours.name || ours.renamingIdentifier == theirs.name || theirs.renamingIdentifier == ours.name
  }

  /// The store's property for one of the file's.
  private static func property<Property: PropertyDescription>(
    _ theirs: Property, of entity: EntityDescription
  ) -> Property? {
    let all = entity.properties.lazy.compactMap { $0 as? Property }
    return all.first { $0.name == theirs.name } ?? all.first { $0.renamingIdentifier == theirs.name }
      ?? theirs.renamingIdentifier.flatMap { former in all.first { $0.name == former } }
  }

  /// Rows are numbered within a table. Without numbers of the app's they are those of one hierarchy.
  private func checkHierarchies() throws {
    for root in layout.model.entities where root.superentity == nil {
      let ours = root.selfAndDescendants.compactMap { matches[$0] }
      let unnumbered = ours.filter { CoreDataRowNumbers.attribute(of: $0) == nil }
      guard let first = unnumbered.first, ours.contains(where: { $0.rootEntity !== first.rootEntity }) else { continue }
      throw ExportOptions.bad(
        "the template has \(ours.map(\.name).sorted().joined(separator: ", ")) in one table, and the store doesn't: give "
          + "\(first.name) an attribute for the number of its row, with the mappedKeyName \(CoreDataRowNumbers.column)")
    }
  }

  // MARK: Rows

  /// The columns of a request, each once.
  private struct Columns {
    private(set) var properties: [FetchedProperty] = []
    private var places: [String: Int] = [:]

    mutating func place(of path: String) -> Int {
      if let known = places[path] { return known }
      places[path] = properties.count
      properties.append(.expression(ExpressionDescription("lade.\(properties.count)", .keyPath(path))))
      return properties.count - 1
    }

    /// The number of the row of an object that a path ends at.
    mutating func rowNumber(_ entity: EntityDescription, behind path: String = "") -> RowNumber {
      let key = CoreDataRowNumbers.attribute(of: entity).map { place(of: path + $0.name) }
      return RowNumber(key: key, id: place(of: path + "objectID"), root: entity.rootEntity)
    }
  }

  private mutating func noteKey(of entity: EntityDescription) {
    guard let key = CoreDataRowNumbers.attribute(of: entity), key.isOptional else { return }
    optionalKeys[entity.rootEntity] = key
  }

  private mutating func addRows(
    _ theirs: EntityDescription, _ ours: EntityDescription, _ entity: CoreDataLayout.Entity
  ) throws {
    noteKey(of: ours)
    var columns = Columns()
    var names = ["Z_PK", "Z_ENT", "Z_OPT"]
    var sources: [Source] = [.rowNumber(columns.rowNumber(ours)), .constant(.int(entity.number)), .constant(.int(1))]
    var missing: [String] = []
    for attribute in theirs.attributes {
      guard let column = layout.column(of: attribute) else { continue }
      let place = "\(theirs.name).\(attribute.name)"
      guard let own = Self.property(attribute, of: ours), !own.isTransient, !own.isCodable else {
        if attribute.isDerived || attribute.isOptional || !attribute.defaultValue.isNull {
          missing.append(attribute.name)
          if !attribute.isDerived, !attribute.defaultValue.isNull {
            names.append(column)
            sources.append(.constant(try CoreDataValue.encoded(attribute.defaultValue, of: attribute)))
          }
          continue
        }
        throw ExportOptions.bad("\(place) of the template must have a value, and the store has no such attribute")
      }
      guard Self.canBecome(own.type, attribute.type) else {
        throw ExportOptions.bad(
          "\(place) is \(attribute.type.rawValue) in the template and \(own.type.rawValue) in the store")
      }
      names.append(column)
      sources.append(.attribute(columns.place(of: own.name), attribute))
    }
    for relationship in theirs.relationships where !relationship.isToMany {
      guard case .toOne(let reference)? = layout.place(of: relationship) else { continue }
      guard let own = Self.property(relationship, of: ours), !own.isToMany, !own.isUnstored else {
        guard relationship.isOptional else {
          throw ExportOptions.bad(
            "\(theirs.name).\(relationship.name) of the template must lead to an object, and the store has no such "
              + "relationship to one object")
        }
        missing.append(relationship.name)
        continue
      }
      let destination = own.destinationEntity
      noteKey(of: destination)
      let isWhole = destination.selfAndDescendants.allSatisfy { $0.isAbstract || numbers[$0.name] != nil }
      let entityName = isWhole && reference.entityColumn == nil ? nil : columns.place(of: own.name + ".entity.name")
      names.append(reference.column)
      sources.append(.reference(columns.rowNumber(destination, behind: own.name + "."), entityName: entityName))
      if let column = reference.entityColumn, let entityName {
        names.append(column)
        sources.append(.entityNumber(name: entityName))
      }
    }
    if !missing.isEmpty {
      notes.append("\(theirs.name) without \(missing.joined(separator: ", ")), which the store doesn't have")
    }
    var request = FetchRequest<ManagedObject>(
      entityName: ours.name, includesSubentities: false, includesPendingChanges: false)
    request.propertiesToFetch = columns.properties
    let list = names.map(Self.quoted).joined(separator: ", ")
    let marks = repeatElement("?", count: names.count).joined(separator: ", ")
    rows.append(
      Rows(
        request: request, sql: "INSERT INTO \(Self.quoted(entity.table)) (\(list)) VALUES (\(marks))", sources: sources)
    )
  }

  /// Whether values of a type can be kept where the app expects another.
  private static func canBecome(_ ours: AttributeType, _ theirs: AttributeType) -> Bool {
    let whole: Set<AttributeType> = [.integer16, .integer32, .integer64, .boolean]
    let fractional: Set<AttributeType> = [.double, .float, .decimal]
    if ours == theirs { return true }
    if whole.contains(ours) { return whole.contains(theirs) || fractional.contains(theirs) }
    return [fractional, [.string, .uri], [.binaryData, .transformable]].contains { kinds in
      kinds.contains(ours) && kinds.contains(theirs)
    }
  }

  // MARK: Pairs

  /// The objects that have a relationship, and the store's relationship; nil, after a note, if the store doesn't have it.
  private mutating func owners(
    of relationship: RelationshipDescription
  ) -> (own: RelationshipDescription, request: FetchRequest<ManagedObject>, owner: RowNumber)? {
    guard let ours = matches[relationship.entity] else { return nil }
    guard let own = Self.property(relationship, of: ours), own.isToMany, !own.isUnstored else {
      notes.append("\(relationship.entity.name) without \(relationship.name), which the store doesn't have")
      return nil
    }
    noteKey(of: ours)
    noteKey(of: own.destinationEntity)
    var columns = Columns()
    let owner = columns.rowNumber(ours)
    var request = FetchRequest<ManagedObject>(
      entityName: ours.name, includesSubentities: true, includesPendingChanges: false)
    request.propertiesToFetch = columns.properties
    return (own, request, owner)
  }

  private mutating func add(_ relationship: RelationshipDescription, _ sql: String, _ arguments: [Argument]) {
    guard let (own, request, owner) = owners(of: relationship) else { return }
    pairs.append(
      Pairs(
        request: request, owner: owner, relationship: own,
        key: CoreDataRowNumbers.attribute(of: own.destinationEntity)?.slot, sql: sql, arguments: arguments))
  }

  /// The order of objects whose own column says to which object they belong.
  private mutating func addOrder(of relationship: RelationshipDescription) {
    guard relationship.isOrdered, case .toMany(let reference)? = layout.place(of: relationship),
      let column = reference.orderColumn, let table = layout.entity(relationship.destinationEntity)?.table
    else { return }
    add(
      relationship, "UPDATE \(Self.quoted(table)) SET \(Self.quoted(column)) = ? WHERE Z_PK = ?", [.order, .related])
  }

  private mutating func addPairs(_ relationship: RelationshipDescription, _ join: CoreDataLayout.Join) {
    var columns = [join.source, join.target]
    var arguments: [Argument] = [.owner, .related]
    if let order = join.order {
      columns.append(order)
      arguments.append(.order)
    }
    let table = Self.quoted(join.table)
    let marks = repeatElement("?", count: columns.count).joined(separator: ", ")
    add(
      relationship, "INSERT INTO \(table) (\(columns.map(Self.quoted).joined(separator: ", "))) VALUES (\(marks))",
      arguments)
    guard let inverse = relationship.inverseRelationship, inverse != relationship,
      case .join(let other)? = layout.place(of: inverse), let order = other.order
    else { return }
    add(
      inverse,
      "UPDATE \(table) SET \(Self.quoted(order)) = ? WHERE \(Self.quoted(other.source)) = ? "
        + "AND \(Self.quoted(other.target)) = ?", [.order, .owner, .related])
  }

  private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}
