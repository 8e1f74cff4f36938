package import ManagedObjects

/// How the columns of a source become the properties of an entity. Made once, and again when a JSON source shows a key that
/// it hadn't shown before.
///
/// An attribute takes the column named by its `mappedKeyName` in the model's user info; without one, the column with the
/// attribute's own name. A to-one relationship takes the key of its object from the column of its `mappedKeyName` or name,
/// or from several columns by `mappedKeyTemplate` (see ``KeyTemplate``), and finds the object by the attribute
/// `relatedByAttribute`, or by the destination's only unique attribute. A recipe's ``PropertyRule`` takes precedence over
/// the user info: its column over `mappedKeyName` and the template, its key over `relatedByAttribute`.
///
/// A to-many relationship takes several keys from one column: a text split by the recipe's `separator` or the model's
/// `mappedSeparator`, or an array. Where columns may nest, an object in place of a key becomes an object of the
/// destination: see ``NestedMapping``. A key in it that no object has rejects the record.
package final class RecordMapping {
  /// An attribute and the column it comes from.
  final class AttributeColumn: Sendable {
    let column: Int
    let slot: Int
    let converter: ValueConverter
    /// Whether null means the value of a new object: the recipe's default or, where null isn't allowed, the model's.
    let hasDefault: Bool
    /// Whether the recipe leaves out a value that doesn't fit.
    let mayLackValue: Bool

    init(column: Int, slot: Int, converter: ValueConverter, hasDefault: Bool, mayLackValue: Bool) {
      self.column = column
      self.slot = slot
      self.converter = converter
      self.hasDefault = hasDefault
      self.mayLackValue = mayLackValue
    }
  }

  /// A uniqueness constraint, and the columns of its attributes.
  struct Constraint {
    let attributes: [AttributeDescription]
    /// The columns that a record must have to give its key. An attribute with a constant or a default of the recipe needs none.
    let columns: [Int]
  }

  /// The recipe's rules.
  let rules: MappingRules
  package var entity: EntityDescription { rules.entity }
  var options: MappingOptions { rules.options }
  /// The columns that were known when this mapping was made.
  let columns: [String]
  let attributes: [AttributeColumn]
  /// To-one relationships.
  let references: [ReferenceMapping]
  /// To-many relationships whose keys a column gives.
  let collections: [ReferenceMapping]
  /// Attributes inside nested cells.
  let parts: [NestedAttributes]
  /// Relationships whose columns may hold objects.
  let nesting: [NestedRelationship]
  /// How those become objects.
  let nestedMappings: NestedMappings
  /// How the nested objects of a record become rows in flat memory; nil where they have to be objects.
  let flatNesting: [FlatNesting]?
  /// Whether a column of the source can hold several values, as in JSON.
  let mayNest: Bool
  /// The recipe's key and the entity's uniqueness constraints, as far as all attributes have a column.
  let constraints: [Constraint]
  /// How many of these identify a record's object; they come first. With a key of the recipe, nothing else does.
  private let identityCount: Int
  /// Columns that nothing takes and that the recipe doesn't name. The reader of a table says which columns have no name; a
  /// member without one is among these.
  package let ignored: [String]
  /// Where those are, and which of them have values that reject their record.
  let newColumns: [Int]
  var refusedColumns: [Int] { rejectsNewColumns ? newColumns : [] }
  /// Also where the model has evolved for the source, which leaves none.
  private var rejectsNewColumns: Bool { options.schema.columns == .discardRow || options.schema.columns == .evolve }
  /// Texts that are no values.
  let nullWords: NullWords?
  /// The column with the reasons of earlier rejections, in a reject file that isn't tabular; nil in any other source.
  let reasonColumn: Int?
  /// What masks the records of batches; nil if nothing is to be masked.
  private(set) var masking: RecordMasking?
  private let keys: MaskKeys?
  private let columnIndex: [String: Int]

  /// A mapping of these columns.
  /// - Throws: ``MappingError``.
  package convenience init(
    _ entity: EntityDescription, columns: [String], options: MappingOptions = MappingOptions(), mayNest: Bool = false
  ) throws {
    try self.init(MappingRules(entity, options), columns: columns, mayNest: mayNest, keys: nil)
  }

  /// A mapping for records that are read, and masked by these keys.
  /// - Throws: ``MappingError``, ``MaskingError``.
  convenience init(
    _ entity: EntityDescription, columns: [String], options: MappingOptions, mayNest: Bool, keys: MaskKeys
  ) throws {
    try self.init(MappingRules(entity, options), columns: columns, mayNest: mayNest, keys: keys)
  }

  /// The same mapping for a source that has shown more columns.
  func extended(to columns: [String]) throws -> RecordMapping {
    try RecordMapping(rules, columns: columns, mayNest: mayNest, nestedMappings: nestedMappings, keys: keys)
  }

  private init(
    _ rules: MappingRules, columns: [String], mayNest: Bool, nestedMappings: NestedMappings = NestedMappings(),
    keys: MaskKeys?
  ) throws {
    self.keys = keys
    self.nestedMappings = nestedMappings
    self.mayNest = mayNest
    let (entity, options) = (rules.entity, rules.options)
    self.rules = rules
    self.columns = columns
    var columnIndex = Dictionary(columns.enumerated().map { ($1, $0) }) { first, _ in first }
    for name in options.ignoredColumns + (mayNest ? [] : [""]) { columnIndex[name] = nil }
    self.columnIndex = columnIndex
    var taken: Set<Int> = []
    var attributes: [AttributeColumn] = []
    for attribute in Self.attributes(of: entity) {
      guard let name = Self.column(of: attribute, options), let column = columnIndex[name] else { continue }
      if mayNest, attribute.isCodable, !rules.isList(attribute) { continue }
      attributes.append(
        AttributeColumn(
          column: column, slot: attribute.slot, converter: try rules.converter(for: attribute),
          hasDefault: rules.hasDefault(attribute), mayLackValue: rules.mayLackValue(attribute)))
      taken.insert(column)
    }
    try Self.check(options, of: entity)
    var references: [ReferenceMapping] = []
    for relationship in entity.relationships where !relationship.isToMany {
      guard let reference = try ReferenceMapping.toOne(relationship, rules, columnIndex, mayNest: mayNest) else {
        continue
      }
      references.append(reference)
      if let column = reference.column { taken.insert(column) }
      taken.formUnion(reference.parts.map(\.column))
      for name in reference.template?.columns ?? [] { columnIndex[name].map { _ = taken.insert($0) } }
    }
    collections = try entity.relationships.filter(\.isToMany).compactMap { relationship in
      try ReferenceMapping.toMany(relationship, rules, columnIndex, mayNest: mayNest)
    }
    taken.formUnion(collections.compactMap(\.column))
    nesting = mayNest ? NestedRelationship.all(rules, columnIndex) : []
    parts = mayNest ? NestedAttributes.all(rules, columnIndex) : []
    taken.formUnion(nesting.map(\.column) + parts.map(\.column))
    self.attributes = attributes
    self.references = references
    flatNesting = FlatNesting.all(nesting, of: entity, nestedMappings, references, collections)
    let columnOfSlot = Dictionary(
      attributes.map { ($0.slot, $0.column) }
        + parts.flatMap { group in group.parts.map { ($0.attribute.slot, group.column) } }
    ) { first, _ in first }
    let isGiven = rules.defaults.union(rules.constants.map(\.slot))
    func found(_ attributes: [AttributeDescription]) -> Constraint? {
      let needed = attributes.filter { !isGiven.contains($0.slot) }
      let columns = needed.compactMap { columnOfSlot[$0.slot] }
      return columns.count == needed.count ? Constraint(attributes: attributes, columns: columns) : nil
    }
    let identities = rules.identities.compactMap(found)
    identityCount = identities.count
    let others = rules.key.map { key in entity.uniquenessConstraints.filter { Set($0) != Set(key) } } ?? []
    constraints = identities + others.compactMap(found)
    let new = columns.enumerated().filter { column, name in
      (mayNest || !name.isEmpty) && !taken.contains(column) && !options.ignoredColumns.contains(name)
        && !RejectReason.isAdded(name)
    }
    ignored = new.map(\.element)
    newColumns = new.map(\.offset)
    nullWords = options.nulls.isEmpty ? nil : NullWords(options.nulls)
    reasonColumn = columns.firstIndex(of: RejectReason.member).flatMap { taken.contains($0) ? nil : $0 }
    masking = nil
    if let keys { masking = try RecordMasking(self, taken: taken, keys) }
    if options.schema.columns == .freeze, !ignored.isEmpty { throw refusal }
  }

  /// The column of an attribute; nil if the recipe gives every object the same value.
  static func column(of attribute: AttributeDescription, _ options: MappingOptions) -> String? {
    let rule = options.properties[attribute.name]
    if rule?.constant != nil { return nil }
    return rule?.column ?? attribute.userInfo["mappedKeyName"] ?? attribute.name
  }

  /// Columns that the recipe names and the source doesn't have.
  var absent: [String] {
    Set(options.properties.values.flatMap { ($0.columns ?? []) + [$0.column].compactMap { $0 } })
      .filter { columnIndex[$0] == nil }.sorted()
  }

  /// The ways in which a record's object may be identified.
  var identities: ArraySlice<Constraint> { constraints.prefix(identityCount) }

  /// What to add to the notes if the recipe's key has no index.
  var keyAdvice: String? {
    guard let key = rules.key else { return nil }
    let names = Set(key.map(\.name))
    let first =
      entity.uniquenessConstraints.compactMap { $0.first?.name }
      + entity.indexes.compactMap { $0.elements.first?.property }
    guard !first.contains(where: names.contains) else { return nil }
    return
      "no index of \(entity.name) begins with \(key.map(\.name).joined(separator: " or ")), so each batch reads the whole "
      + "table: add a fetch index to the model"
  }

  /// Properties that the filter reads and that neither the source nor the recipe gives: every record has the values of a new
  /// object there.
  var unansweredFilter: [String] {
    guard let filter = rules.filter else { return [] }
    var answered = rules.defaults.union(rules.constants.map(\.slot)).union(attributes.map(\.slot))
    answered.formUnion(references.map(\.relationship.slot))
    for group in parts { answered.formUnion(group.parts.map(\.attribute.slot)) }
    return (entity.attributes.map { ($0.name, $0.slot) } + entity.relationships.map { ($0.name, $0.slot) }).filter {
      filter.reads($1) && !answered.contains($1)
    }.map(\.0)
  }

  /// Names of columns for messages. Where values are masked, a name that isn't expected may be such a value: that of a first
  /// record in place of a header line.
  func shown(_ names: [String]) -> [String] {
    guard rules.isMasking else { return names }
    let known = Set(expectedColumns + options.ignoredColumns)
    return names.map { known.contains($0) ? $0 : ValueMask.redaction }
  }

  /// The columns that the entity could take besides those that it takes.
  private var freeColumns: [String] {
    let taken = Set(columns).subtracting(ignored)
    return expectedColumns.filter { !taken.contains($0) }
  }

  /// What to add to a note about the ignored columns.
  var ignoredSpellings: String { MappingError.spellings(shown(ignored), of: freeColumns) }

  private var refusal: MappingError {
    let free = freeColumns
    return .newColumns(
      entity: entity.name,
      columns: shown(ignored).map { .init(name: $0, nearest: NearestName.of($0, among: free)) })
  }

  /// Refuses a recipe whose rules for relationships can't be followed, whatever columns the source has.
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
      switch ReferenceMapping.referenceKey(of: relationship, options) {
      case .success(let key):
        if let obstacle = PlaceholderObject(relationship, by: key).obstacle(from: relationship) {
          throw failure(obstacle)
        }
      case .failure(let problem): throw failure(problem.reason)
      }
    }
  }

  /// Whether records become attributes only.
  var isWithoutRelationships: Bool { references.isEmpty && collections.isEmpty && nesting.isEmpty }

  /// Whether records find rows of their own table by something that only a non-unique index finds quickly.
  var looksAmongItsOwn: Bool {
    if rules.key != nil { return true }
    let ends = (references + collections).map { ($0.relationship, $0.key.attributes.first) }
    return (ends + nesting.map { ($0.end.relationship, $0.end.key) }).contains { relationship, key in
      guard relationship.destinationEntity.rootEntity === entity.rootEntity else { return false }
      if relationship.isToMany, !relationship.isManyToMany { return true }
      guard let key else { return false }
      return !relationship.destinationEntity.uniquenessConstraints.contains { $0.first === key }
    }
  }

  /// Refuses a source that has nothing for the entity.
  func checkNotEmpty() throws {
    let takesKeys = references.contains { $0.column != nil || $0.template != nil || !$0.parts.isEmpty }
    guard attributes.isEmpty && !takesKeys && collections.isEmpty && parts.isEmpty && nesting.isEmpty else { return }
    throw MappingError.nothingToMap(entity: entity.name, columns: shown(columns), expected: expectedColumns)
  }

  /// The attributes that a column may fill.
  static func attributes(of entity: EntityDescription) -> [AttributeDescription] {
    entity.attributes.filter { !$0.isTransient && $0.definition.derivationExpression == nil }
  }

  /// The columns that the entity could take.
  private var expectedColumns: [String] {
    let keys = entity.relationships.filter { !$0.isToMany }.flatMap { relationship -> [String] in
      let rule = options.properties[relationship.name]
      if let keys = rule?.keys { return rule?.columns ?? keys }
      guard case .success = ReferenceMapping.key(of: relationship, options), rule?.constant == nil else { return [] }
      if let column = rule?.column { return [column] }
      do {
        if let text = relationship.userInfo["mappedKeyTemplate"] { return try KeyTemplate(text).columns }
      } catch {
        // Never: making the mapping has refused the template.
        return []
      }
      return [relationship.userInfo["mappedKeyName"] ?? relationship.name]
    }
    return Self.attributes(of: entity).compactMap { Self.column(of: $0, options) } + keys
  }

  /// Refuses a source whose records couldn't find their objects, if the mode needs that.
  func checkKey(_ mode: ImportMode) throws {
    guard identities.isEmpty else { return }
    throw MappingError.noKey(
      entity: entity.name, constraints: rules.identities.map { $0.map(\.name) }, columns: shown(columns),
      mode: mode)
  }

  // MARK: Reading keys

  /// The cell of a reference's key in a record; nil if a template makes the key.
  func keyCell(_ reference: ReferenceMapping, _ record: Int, in batch: RecordBatch) -> Cell? {
    guard let column = reference.column else { return nil }
    return batch.cell(record, column)
  }

  /// Whether a record says nothing about a reference, as JSON records may. That isn't the same as an empty key.
  func isAbsent(_ reference: ReferenceMapping, _ record: Int, in batch: RecordBatch) -> Bool {
    reference.isAbsent(record, in: batch, columnIndex)
  }

  /// The key that a reference's template makes of a record; nil if a part is missing.
  func renderedKey(_ reference: ReferenceMapping, _ record: Int, in batch: RecordBatch) -> String? {
    reference.renderedKey(record, in: batch, columnIndex)
  }

  /// Whether it matters which object a rejected record is about: it keeps that object from being deleted. Without a key, no
  /// record is about an object that the store has.
  func identifiesRejected(in mode: ImportMode) -> Bool {
    mode == .synchronise || (mode == .replace && !identities.isEmpty)
  }

  // MARK: Comparing with the store's rows

  /// Whether all to-one relationships are given by a plain key, and lead to other entities: to objects that the store has, so
  /// that a batch's rows don't depend on each other. Without to-many relationships, but for nested objects of flat shape, and
  /// without one-to-one ones, which change the rows at both ends.
  var hasPlainReferencesOnly: Bool {
    (collections.isEmpty && nesting.isEmpty || flatNesting != nil)
      && references.allSatisfy { reference in
        let relationship = reference.relationship
        return reference.column != nil && reference.template == nil && reference.separator == nil
          && reference.constant == nil && reference.defaultKey == nil && !relationship.isTransient
          && entity.rootEntity !== relationship.destinationEntity.rootEntity
          && relationship.inverseRelationship?.isOrdered != true && relationship.inverseRelationship?.isToMany != false
      }
  }

  /// The slots of the attributes that identify the entity's objects; none if the mode looks for no object, as one that
  /// replaces objects without a key. nil if objects may be found in several ways, or no column gives a part of the key.
  func comparisonKey(in mode: ImportMode) -> [Int]? {
    if !mode.findsObjects { return [] }
    guard entity.superentity == nil, entity.subentities.isEmpty, rules.key == nil else { return nil }
    if mode == .replace, entity.uniquenessConstraints.isEmpty { return [] }
    guard entity.uniquenessConstraints.count == 1, let constraint = constraints.first,
      constraint.columns.count == constraint.attributes.count
    else { return nil }
    return constraint.attributes.map(\.slot)
  }

  /// The slots in which a row may change its object.
  func comparedSlots(in mode: ImportMode) -> [Int] {
    guard mode == .replace else {
      return Set(
        attributes.map(\.slot) + rules.constants.map(\.slot) + references.map(\.relationship.slot)
      ).sorted()
    }
    // What the record doesn't mention becomes as in a new object.
    let attributes = Self.attributes(of: entity).map(\.slot)
    return attributes + entity.relationships.filter { !$0.isToMany && !$0.isTransient }.map(\.slot)
  }
}
