package import ManagedObjects

/// How the columns of a source become the properties of an entity: worked out once, and again when a JSON source shows
/// a key that it hadn't shown before.
///
/// An attribute takes the column that its `mappedKeyName` in the model's user info names; without one, the column called
/// as the attribute itself. A to-one relationship takes the key of the object it points to from the column of its
/// `mappedKeyName` or name, or from several columns by `mappedKeyTemplate` (see ``KeyTemplate``), and finds that object
/// by the attribute `relatedByAttribute`, or by the destination's only unique attribute. A recipe's ``PropertyRule`` goes
/// before the user info: its column before `mappedKeyName` and the template, its key before `relatedByAttribute`.
///
/// A to-many relationship takes several keys from one column: a text told apart by the recipe's `separator` or the model's
/// `mappedSeparator`, or an array. Where columns may nest, an object in place of a key becomes an object of the
/// destination: see ``NestedMapping``. A key in it that nobody has rejects the record.
package struct RecordMapping {
  /// An attribute and the column it comes from.
  final class AttributeColumn: Sendable {
    let column: Int
    let slot: Int
    let converter: ValueConverter
    /// Whether null is the value that new objects have: a default of the recipe's or, where null can't be, the model's.
    let hasDefault: Bool

    init(column: Int, slot: Int, converter: ValueConverter, hasDefault: Bool) {
      self.column = column
      self.slot = slot
      self.converter = converter
      self.hasDefault = hasDefault
    }
  }

  /// A relationship and what its key, or its keys, are made of.
  struct Reference {
    let relationship: RelationshipDescription
    /// The attribute of the destination that holds the key.
    let key: AttributeDescription
    let converter: ValueConverter
    /// The column that holds the key, when it is one column as it stands.
    let column: Int?
    let template: KeyTemplate?
    /// What is made for a key that no object has, if the recipe says so.
    let creates: KeyedObject?
    /// Whether a record whose key no object has is rejected: the relationship needs one, or the recipe says so.
    let needsObject: Bool
    /// What stands between several keys in a text; nil when a text is one key.
    var separator: String?
    /// The key that every record has, whatever it says; and the one for a record that has none.
    var constant, defaultKey: Value?
  }

  /// A uniqueness constraint, and the columns of its attributes.
  struct Constraint {
    let attributes: [AttributeDescription]
    /// Those that a record must have to say its key; an attribute with a constant or a default of the recipe's needs none.
    let columns: [Int]
  }

  /// What the recipe says.
  let rules: MappingRules
  package var entity: EntityDescription { rules.entity }
  var options: MappingOptions { rules.options }
  /// The columns that were known when this was worked out.
  let columns: [String]
  let attributes: [AttributeColumn]
  /// To-one relationships.
  let references: [Reference]
  /// To-many relationships, of which a column says all that they hold.
  let collections: [Reference]
  /// Attributes that stand inside nested cells.
  let parts: [Parts]
  /// Relationships whose columns may hold objects.
  let nesting: [Nesting]
  /// How those become objects.
  let nestedMappings: NestedMappings
  /// Whether the source can say several values in one column, as JSON does.
  let mayNest: Bool
  /// The entity's uniqueness constraints whose attributes all have a column.
  let constraints: [Constraint]
  /// Columns that nothing takes, other than the recipe says.
  package let ignored: [String]
  /// The column of a reject file that isn't tabular with the reasons of before; nil in any other source.
  let reasonColumn: Int?
  private let columnIndex: [String: Int]

  /// A mapping of these columns.
  /// - Throws: ``MappingError``.
  package init(
    _ entity: EntityDescription, columns: [String], options: MappingOptions = MappingOptions(), mayNest: Bool = false
  ) throws {
    try self.init(MappingRules(entity, options), columns: columns, mayNest: mayNest)
  }

  /// A mapping of these columns by rules that were made ready before.
  init(
    _ rules: MappingRules, columns: [String], mayNest: Bool, nestedMappings: NestedMappings = NestedMappings()
  ) throws {
    self.nestedMappings = nestedMappings
    self.mayNest = mayNest
    let (entity, options) = (rules.entity, rules.options)
    self.rules = rules
    self.columns = columns
    var columnIndex = Dictionary(columns.enumerated().map { ($1, $0) }) { first, _ in first }
    for name in options.ignoredColumns { columnIndex[name] = nil }
    self.columnIndex = columnIndex
    var taken: Set<Int> = []
    var attributes: [AttributeColumn] = []
    for attribute in Self.attributes(of: entity) {
      guard let name = Self.column(of: attribute, options), let column = columnIndex[name] else { continue }
      if mayNest, attribute.isCodable, !rules.isList(attribute) { continue }
      attributes.append(
        AttributeColumn(
          column: column, slot: attribute.slot, converter: try rules.converter(for: attribute),
          hasDefault: rules.hasDefault(attribute)))
      taken.insert(column)
    }
    try Self.check(options, of: entity)
    var references: [Reference] = []
    for relationship in entity.relationships where !relationship.isToMany {
      guard let reference = try Self.reference(relationship, rules, columnIndex, mayNest: mayNest) else { continue }
      references.append(reference)
      if let column = reference.column { taken.insert(column) }
      for name in reference.template?.columns ?? [] { columnIndex[name].map { _ = taken.insert($0) } }
    }
    collections = try Self.collections(rules, columnIndex, mayNest: mayNest)
    taken.formUnion(collections.compactMap(\.column))
    nesting = mayNest ? Self.nesting(rules, columnIndex) : []
    parts = mayNest ? Self.parts(rules, columnIndex) : []
    taken.formUnion(nesting.map(\.column) + parts.map(\.column))
    self.attributes = attributes
    self.references = references
    let columnOfSlot = Dictionary(
      attributes.map { ($0.slot, $0.column) }
        + parts.flatMap { group in group.parts.map { ($0.attribute.slot, group.column) } }
    ) { first, _ in first }
    let isGiven = rules.defaults.union(rules.constants.map(\.slot))
    constraints = entity.uniquenessConstraints.compactMap { constraint in
      let needed = constraint.filter { !isGiven.contains($0.slot) }
      let columns = needed.compactMap { columnOfSlot[$0.slot] }
      return columns.count == needed.count ? Constraint(attributes: constraint, columns: columns) : nil
    }
    ignored = columns.enumerated().filter { column, name in
      !taken.contains(column) && !options.ignoredColumns.contains(name) && !RejectReason.isAdded(name)
    }.map(\.element)
    reasonColumn = columns.firstIndex(of: RejectReason.member).flatMap { taken.contains($0) ? nil : $0 }
    if options.unknownColumns == .refuse, !ignored.isEmpty { throw unknownColumns }
  }

  /// The column that an attribute comes from; nil when it is the same for every object.
  static func column(of attribute: AttributeDescription, _ options: MappingOptions) -> String? {
    let rule = options.properties[attribute.name]
    if rule?.constant != nil { return nil }
    return rule?.column ?? attribute.userInfo["mappedKeyName"] ?? attribute.name
  }

  /// Columns that the recipe names and the source hasn't got.
  var absent: [String] {
    Set(options.properties.values.compactMap(\.column)).filter { columnIndex[$0] == nil }.sorted()
  }

  /// Properties that the filter asks for, and neither the source nor the recipe says: of every record they are as in a new
  /// object.
  var unansweredFilter: [String] {
    guard let filter = rules.filter else { return [] }
    var answered = rules.defaults.union(rules.constants.map(\.slot)).union(attributes.map(\.slot))
    answered.formUnion(references.map(\.relationship.slot))
    for group in parts { answered.formUnion(group.parts.map(\.attribute.slot)) }
    return (entity.attributes.map { ($0.name, $0.slot) } + entity.relationships.map { ($0.name, $0.slot) }).filter {
      filter.reads($1) && !answered.contains($1)
    }.map(\.0)
  }

  private var unknownColumns: MappingError {
    let taken = Set(columns).subtracting(ignored)
    let free = expectedColumns.filter { !taken.contains($0) }
    return .unknownColumns(
      entity: entity.name,
      columns: ignored.map { .init(name: $0, nearest: NearestName.of($0, among: free)) })
  }

  /// Whether a record is rejected whose key no object has.
  static func needsObject(_ relationship: RelationshipDescription, _ rule: PropertyRule?) -> Bool {
    !relationship.isOptional || rule?.unresolved == .reject
  }

  /// Refuses a recipe whose rules for relationships can't be followed, whatever the columns are.
  static func check(_ options: MappingOptions, of entity: EntityDescription) throws(MappingError) {
    for relationship in entity.relationships {
      guard let rule = options.properties[relationship.name] else { continue }
      func failure(_ reason: String) -> MappingError {
        .badRelationship(entity: entity.name, relationship: relationship.name, reason: reason)
      }
      if rule.unresolved == .leave, !relationship.isOptional {
        throw failure("it can't be left empty, since the model says that it needs an object: have it reject")
      }
      if rule.unresolved == .reject, rule.creates {
        throw failure("it can't both create objects and reject keys that have none: leave one out")
      }
      guard rule.creates else { continue }
      switch key(of: relationship, options) {
      case .success(let key):
        if let obstacle = KeyedObject(relationship, by: key).obstacle(from: relationship) { throw failure(obstacle) }
      case .failure(let problem): throw failure(problem.reason)
      }
    }
  }

  /// Whether records become attributes alone.
  var isWithoutRelationships: Bool { references.isEmpty && collections.isEmpty && nesting.isEmpty }

  /// Whether records find rows of their own table by what only an index that isn't unique finds quickly.
  var looksAmongItsOwn: Bool {
    let ends = (references + collections).map { ($0.relationship, Optional($0.key)) }
    return (ends + nesting.map { ($0.end.relationship, $0.end.key) }).contains { relationship, key in
      guard relationship.destinationEntity.rootEntity === entity.rootEntity else { return false }
      if relationship.isToMany, !relationship.isManyToMany { return true }
      guard let key else { return false }
      return !relationship.destinationEntity.uniquenessConstraints.contains { $0.first === key }
    }
  }

  /// Refuses a source of which nothing could be taken.
  func checkNotEmpty() throws {
    let takesKeys = references.contains { $0.column != nil || $0.template != nil }
    guard attributes.isEmpty && !takesKeys && collections.isEmpty && parts.isEmpty && nesting.isEmpty else { return }
    throw MappingError.nothingToMap(entity: entity.name, columns: columns, expected: expectedColumns)
  }

  /// The attributes that a column may fill.
  static func attributes(of entity: EntityDescription) -> [AttributeDescription] {
    entity.attributes.filter { !$0.isTransient && $0.definition.derivationExpression == nil }
  }

  /// The columns that the entity would take.
  private var expectedColumns: [String] {
    let keys = entity.relationships.filter { !$0.isToMany }.flatMap { relationship -> [String] in
      let rule = options.properties[relationship.name]
      guard case .success = Self.key(of: relationship, options), rule?.constant == nil else { return [] }
      if let column = rule?.column { return [column] }
      do {
        if let text = relationship.userInfo["mappedKeyTemplate"] { return try KeyTemplate(text).columns }
      } catch {
        // The mapping, which comes before any question for what it expected, has refused it.
        return []
      }
      return [relationship.userInfo["mappedKeyName"] ?? relationship.name]
    }
    return Self.attributes(of: entity).compactMap { Self.column(of: $0, options) } + keys
  }

  /// Refuses a source whose records couldn't find their objects, as the mode needs.
  func checkKey(_ mode: ImportOptions.Mode) throws {
    guard constraints.isEmpty else { return }
    throw MappingError.noKey(
      entity: entity.name, constraints: entity.uniquenessConstraints.map { $0.map(\.name) }, columns: columns,
      mode: mode)
  }

  /// The cell of a reference's key in a record; nil when the key is made by a template.
  func keyCell(_ reference: Reference, _ record: Int, in batch: RecordBatch) -> Cell? {
    guard let column = reference.column else { return nil }
    return batch.cell(record, column)
  }

  /// Whether a record says nothing of a reference, as JSON records may; that is not the same as an empty key.
  func isAbsent(_ reference: Reference, _ record: Int, in batch: RecordBatch) -> Bool {
    if let column = reference.column { return batch.cell(record, column).kind == .missing }
    return reference.template?.columns.contains { name in
      columnIndex[name].map { batch.cell(record, $0).kind == .missing } ?? true
    } ?? true
  }

  /// The key made by a reference's template from a record; nil when a part is missing.
  func renderedKey(_ reference: Reference, _ record: Int, in batch: RecordBatch) -> String? {
    reference.template?.render { name in
      guard let column = columnIndex[name] else { return nil }
      let cell = batch.cell(record, column)
      switch cell.kind {
      case .text, .number: return batch.string(cell)
      case .yes: return "true"
      case .no: return "false"
      case .missing, .null, .empty, .nested: return nil
      }
    }
  }
}
