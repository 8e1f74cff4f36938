import Importing
import ManagedObjects

/// Builds the columns of an export.
///
/// A property of the entity itself is called as the importer looks for it: by `mappedKeyName` in the model's user info,
/// otherwise by its name. Everything else is called by its key path.
struct ExportColumns {
  private let entity: EntityDescription
  private let options: ExportOptions
  private(set) var properties: [FetchedProperty] = []
  private(set) var columns: [WrittenColumn] = []
  private(set) var collections: [(source: ExportPlan.Collection, written: WrittenCollection)] = []
  private(set) var notes: [String] = []
  /// The own properties that an import reads from a column that another property has already: their values, and its place.
  private(set) var shared: [(property: FetchedProperty, column: Int)] = []
  /// The places of the columns of the entity's own properties, by the column's name.
  private var ownPlaces: [String: Int] = [:]
  private var ownPaths: Set<String> = []
  /// Where the attributes of a to-many relationship that were named one by one stand.
  private var places: [String: Int] = [:]

  init(_ entity: EntityDescription, _ options: ExportOptions) {
    self.entity = entity
    self.options = options
  }

  // MARK: All that an import takes

  mutating func addAll() throws {
    var left: [String] = []
    for attribute in entity.attributes where !attribute.isTransient && !attribute.isDerived {
      if isImported(attribute) { try add(attribute) } else { left.append(attribute.name) }
    }
    for relationship in entity.relationships where !relationship.isUnstored {
      switch ReferenceMapping.key(of: relationship) {
      case nil: if !relationship.isToMany || relationship.isManyToMany { left.append(relationship.name) }
      case let key? where !relationship.isToMany: try add(relationship, key: key)
      case let key?:
        // Of one-to-many relationships the other end says what they hold, but not in which order.
        guard relationship.isManyToMany || relationship.isOrdered else { continue }
        if options.format.nests || separator(of: relationship) != nil {
          try add(keysOf: relationship, key: key)
        } else if !relationship.isManyToMany {
          notes.append(
            "the order of \(relationship.name) isn't in it: json, ndjson and parquet have it, and \(options.format.rawValue) if the "
              + "model gives the relationship a mappedSeparator")
        } else {
          left.append(relationship.name)
        }
      }
    }
    if !left.isEmpty {
      notes.append(
        "left out, as no import could read them from \(options.format.rawValue): \(left.joined(separator: ", "))")
    }
  }

  private func isImported(_ attribute: AttributeDescription) -> Bool {
    switch attribute.type {
    case .transformable: attribute.isCodable && options.format.keepsJSON
    case .objectID, .composite, .undefined: false
    default: true
    }
  }

  // MARK: Those that were named

  mutating func add(_ name: String) throws {
    let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if let attribute = entity.propertiesByName[name] as? AttributeDescription { return try add(attribute) }
    if let relationship = entity.propertiesByName[names[0]] as? RelationshipDescription {
      if relationship.isToMany { return try add(relationship, Array(names.dropFirst()), name) }
      if names.count == 1 {
        guard let key = ReferenceMapping.key(of: relationship) else {
          throw ExportOptions.bad(
            "\(name) leads to \(relationship.destinationEntity.name), which has no unique attribute that would stand for "
              + "it: name one, as \(name).\(relationship.destinationEntity.attributes.first?.name ?? "name")")
        }
        return try add(relationship, key: key)
      }
    }
    if names.last == "@count" { return try addCount(name) }
    let path = try ResolvedPath(names, in: entity)
    switch path.end {
    case .attribute(let attribute):
      try append(name, WrittenColumn(attribute, name: name, keepsModelDates: options.dates == .model))
    case .entityName, .objectID: try append(name, WrittenColumn(name: name, type: .string))
    case .relationship(let relationship):
      guard let key = ReferenceMapping.key(of: relationship) else {
        throw ExportOptions.bad("\(name) has no unique attribute that would stand for it: name one of its attributes")
      }
      try append(
        "\(name).\(key.name)", WrittenColumn(key, name: name, keepsModelDates: options.dates == .model))
    case .composite(let composite):
      throw ExportOptions.bad(
        "\(name) is made of others: name \(composite.attributes.map(\.name).joined(separator: ", "))")
    }
  }

  private mutating func add(_ relationship: RelationshipDescription, _ rest: [String], _ name: String) throws {
    if rest == ["@count"] { return try addCount(name) }
    if rest.isEmpty {
      guard let key = ReferenceMapping.key(of: relationship) else {
        throw ExportOptions.bad(
          "\(name) leads to \(relationship.destinationEntity.name), which has no unique attribute that would stand for "
            + "its objects: name their attributes, or count them with \(name).@count")
      }
      return try add(keysOf: relationship, key: key)
    }
    guard
      let attribute = relationship.destinationEntity.propertiesByName[rest.joined(separator: ".")]
        as? AttributeDescription, !attribute.isTransient
    else {
      throw ExportOptions.bad(
        "\(name): behind a to-many relationship there can be one attribute of "
          + "\(relationship.destinationEntity.name), or @count")
    }
    let column = try WrittenColumn(
      attribute, name: attribute.userInfo["mappedKeyName"] ?? attribute.name, keepsModelDates: options.dates == .model)
    let title = relationship.userInfo["mappedKeyName"] ?? relationship.name
    guard let place = places[relationship.name] else {
      places[relationship.name] = collections.count
      collections.append(
        (.init(relationship: relationship, slots: [attribute.slot]), WrittenCollection(objects: [column], name: title)))
      return
    }
    let known = collections[place]
    guard !known.written.columns.contains(where: { $0.name == column.name }) else {
      throw WriterError.columnTwice(name)
    }
    collections[place] = (
      .init(relationship: relationship, slots: known.source.slots + [attribute.slot]),
      WrittenCollection(objects: known.written.columns + [column], name: title)
    )
  }

  // MARK: One

  private mutating func add(_ attribute: AttributeDescription) throws {
    let name = attribute.userInfo["mappedKeyName"] ?? attribute.name
    try appendOwn(attribute.name, WrittenColumn(attribute, name: name, keepsModelDates: options.dates == .model))
  }

  private mutating func add(_ relationship: RelationshipDescription, key: AttributeDescription) throws {
    let name = relationship.userInfo["mappedKeyName"] ?? relationship.name
    try appendOwn(
      "\(relationship.name).\(key.name)", WrittenColumn(key, name: name, keepsModelDates: options.dates == .model))
  }

  private mutating func add(keysOf relationship: RelationshipDescription, key: AttributeDescription) throws {
    let name = relationship.userInfo["mappedKeyName"] ?? relationship.name
    let column = try WrittenColumn(key, name: name, keepsModelDates: options.dates == .model)
    collections.append(
      (
        .init(relationship: relationship, slots: [key.slot]),
        WrittenCollection(keys: column, name: name, separator: separator(of: relationship))
      ))
  }

  private func separator(of relationship: RelationshipDescription) -> String? {
    relationship.userInfo["mappedSeparator"].flatMap { $0.isEmpty ? nil : $0 }
  }

  private mutating func addCount(_ name: String) throws {
    let count = try ExpressionDescription(nextName, format: name, expressionResultType: .integer64)
    columns.append(WrittenColumn(name: name))
    properties.append(.expression(count))
  }

  /// Appends a column, unless it is another property's as well: both have the value of one column, which is written once.
  private mutating func appendOwn(_ path: String, _ column: WrittenColumn) throws {
    let isNew = ownPaths.insert(path).inserted
    if isNew, let place = ownPlaces[column.name] {
      shared.append((.expression(ExpressionDescription("lade.shared.\(shared.count)", .keyPath(path))), place))
      return
    }
    ownPlaces[column.name] = columns.count
    try append(path, column)
  }

  private mutating func append(_ path: String, _ column: WrittenColumn) throws {
    columns.append(column)
    properties.append(.expression(ExpressionDescription(nextName, .keyPath(path))))
  }

  /// What the next column is called in the fetch: two may be of one path.
  private var nextName: String { "lade.\(properties.count)" }
}
