package import ManagedObjects

/// The columns of a source beside the properties that they may become: what a person sees who maps one to the other.
package struct SourceColumns: Sendable {
  /// A column as the reader names it.
  package struct Column: Sendable {
    package let name: String
    /// Its first values, cut where they are long; empty ones are left out.
    package fileprivate(set) var values: [String] = []
  }

  /// A property of the entity that a recipe can give a column.
  package struct Property: Sendable {
    package let name: String
    /// Nil for a relationship.
    package let type: AttributeType?
    /// The entity that a relationship leads to.
    package let destination: String?
    package let isToMany: Bool
    package let isOptional: Bool
    /// The model's default, as text; nil if there is none.
    package let defaultValue: String?
    /// The column that it takes by the model and the options; nil if the source has none of that name.
    package let column: String?
    /// A column of nearly the same name that nothing takes; nil if it has a column.
    package fileprivate(set) var suggestion: String?
  }

  /// Values that are shown of a column.
  private static let shownValues = 3
  /// Records in which they are looked for.
  private static let records = 50
  private static let longestValue = 60

  package private(set) var columns: [Column] = []
  package let properties: [Property]
  /// The attributes that identify an object by the model, one list for each uniqueness constraint.
  package let constraints: [[String]]
  /// The name of the source's format.
  package let format: String
  /// What the reader assumed about the source.
  package let notes: [String]

  /// Reads the source's beginning.
  /// - Throws: ``MappingError``, ``ReaderError``, and ``Interrupted`` when the request says so.
  package init(_ request: ImportRequest, into entity: EntityDescription) throws {
    let source = try ImportSource(request.source, descriptor: request.descriptor)
    let batch = RecordBatch()
    let opened = try request.makeInterruption().limit {
      let opened = try openSource(
        fileDescriptor: source.descriptor, name: request.name, options: request.options.reader,
        log: source.log?.descriptor, from: nil)
      _ = try opened.reader.read(into: batch, limit: Self.records)
      return opened
    }
    // A reader of JSON knows them only now.
    let names = opened.reader.columns.filter { !$0.isEmpty && !RejectReason.isAdded($0) }
    for (place, name) in opened.reader.columns.enumerated() where !name.isEmpty && !RejectReason.isAdded(name) {
      columns.append(Column(name: name, values: Self.values(of: place, in: batch)))
    }
    properties = Self.properties(of: entity, request.options.mapping, names)
    constraints = entity.uniquenessConstraints.map { $0.map(\.name) }
    format = opened.detection.format.rawValue
    notes = opened.detection.notes
    withExtendedLifetime(source) {}
  }

  private static func values(of column: Int, in batch: RecordBatch) -> [String] {
    var values: [String] = []
    for record in 0..<batch.count where values.count < shownValues {
      if batch.hasProblems, batch.problem(record) != nil { continue }
      let cell = batch.cell(record, column)
      switch cell.kind {
      case .missing, .null, .empty, .fault: continue
      case .yes: values.append("true")
      case .no: values.append("false")
      case .text, .number, .quantity, .date, .nested:
        let text = batch.string(cell)
        values.append(text.count > longestValue ? text.prefix(longestValue) + "…" : text)
      }
    }
    return values
  }

  private static func properties(
    of entity: EntityDescription, _ options: MappingOptions, _ columns: [String]
  ) -> [Property] {
    let known = Set(columns)
    let attributes = RecordMapping.attributes(of: entity).filter { $0.type != .composite }.map { attribute in
      Property(
        name: attribute.name, type: attribute.type, destination: nil, isToMany: false,
        isOptional: attribute.isOptional,
        defaultValue: attribute.defaultValue.isNull ? nil : attribute.defaultValue.plainText,
        column: RecordMapping.column(of: attribute, options).flatMap { known.contains($0) ? $0 : nil })
    }
    let relationships = entity.relationships.filter { !$0.isTransient }.map { relationship in
      let rule = options.properties[relationship.name]
      let name = rule?.column ?? relationship.userInfo["mappedKeyName"] ?? relationship.name
      return Property(
        name: relationship.name, type: nil, destination: relationship.destinationEntity.name,
        isToMany: relationship.isToMany, isOptional: relationship.isOptional, defaultValue: nil,
        column: rule?.constant == nil && known.contains(name) ? name : nil)
    }
    var properties = attributes + relationships
    var free = columns.filter { name in !properties.contains { $0.column == name } }
    for place in properties.indices where properties[place].column == nil {
      let spellings = spellings(of: properties[place].name, in: entity)
      guard let found = free.firstIndex(where: { spellings.contains(EntityNames.matching($0)) }) else { continue }
      properties[place].suggestion = free.remove(at: found)
    }
    return properties
  }

  /// How a column may be called that becomes a property, as ``EntityNames/matching(_:)`` writes names.
  private static func spellings(of name: String, in entity: EntityDescription) -> Set<String> {
    guard let property = entity.propertiesByName[name] else { return [EntityNames.matching(name)] }
    var names = [name, property.userInfo["mappedKeyName"]].compactMap { $0 }
    if let relationship = property as? RelationshipDescription, let key = ReferenceMapping.key(of: relationship) {
      names += [name + " " + key.name, relationship.destinationEntity.name + " " + key.name]
    }
    return Set(names.map(EntityNames.matching)).subtracting([""])
  }
}
