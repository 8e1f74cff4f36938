import Foundation

/// Turns a model of Xcode 3 into definitions: the file `elements` of an `.xcdatamodel`, a keyed archive of what its editor
/// shows.
///
/// Each property of an entity has stereotypes, and each stereotype a list of named values. A value whose name isn't known is a
/// warning. Inheritance is refused, since the form it has isn't known.
///
/// Source: the model of MagicalRecord's sample Recipes, whose store has the tables that follow from it.
struct Xcode3ModelReader {
  let file: String
  private let archive: KeyedArchive
  private var contents = ModelReader.Contents()

  private init(_ data: Data, file: String) throws(ArchiveDamage) {
    self.file = file
    archive = try KeyedArchive(data)
  }

  /// Reads the whole archive.
  /// - Throws: ``ModelError/unreadable(path:reason:)``.
  static func read(_ data: Data, file: String) throws(ModelError) -> ModelReader.Contents {
    do throws(ArchiveDamage) {
      var reader = try Xcode3ModelReader(data, file: file)
      try reader.readModel()
      return reader.contents
    } catch {
      throw .unreadable(path: file, reason: error.reason)
    }
  }

  private mutating func warn(_ message: String) {
    contents.warnings.append(ModelWarning(file: file, line: nil, message: message))
  }

  private mutating func readModel() throws(ArchiveDamage) {
    let model = try archive.root("XDPMModel")
    contents.versionIdentifier = try archive.text("_modelVersionIdentifier", of: model).flatMap {
      $0.isEmpty ? nil : $0
    }
    guard let package = try archive.object("_xd_rootPackage", of: model) else {
      throw ArchiveDamage("the model has no entities")
    }
    for (name, item) in try archive.entries("XDBucketForClassesstorage", of: package) {
      guard case .coded(let entity) = item, entity.className == "XDPMEntity" else {
        throw ArchiveDamage("the entity \(name) isn't an entity")
      }
      try readEntity(name, entity)
    }
    for (name, _) in try archive.entries("_configurationsByName", of: model) {
      warn("the configuration \(name) isn't read")
    }
  }

  // MARK: Entities

  private mutating func readEntity(_ name: String, _ object: KeyedArchive.Coded) throws(ArchiveDamage) {
    guard try archive.elements("XDBucketForGeneralizationsstorage", of: object).isEmpty else {
      throw ArchiveDamage(
        "the entity \(name) has a parent, which isn't read from a model of Xcode 3: save the model by a later Xcode first"
      )
    }
    var values = try values(of: object, name)
    let className = try values.text("XD_PSK_entityClassName")
    var entity = EntityDefinition(
      name, isAbstract: try values.flag("XD_PSK_isAbstract"),
      className: className == "NSManagedObject" ? nil : className)
    entity.userInfo = try values.userInfo("XD_PSK_userInfo")
    if !(try values.elements("XD_PSK_fetchRequestsArray")).isEmpty {
      warn("the fetch requests of \(name) aren't read")
    }
    values.ignore("XD_PSK_classMapping")
    finish(values)
    for (key, item) in try archive.entries("XDBucketForOwnedAttributesstorage", of: object) {
      guard case .coded(let property) = item else { continue }
      switch property.className {
      case "XDPMAttribute": try readAttribute(key, property, into: &entity)
      case "XDPMRelationship": try readRelationship(key, property, into: &entity)
      default: warn("\(name).\(key) is a \(property.className), which isn't read; it is left out")
      }
    }
    contents.entities.append(entity)
  }

  private mutating func readAttribute(
    _ name: String, _ object: KeyedArchive.Coded, into entity: inout EntityDefinition
  ) throws(ArchiveDamage) {
    let place = "\(entity.name).\(name)"
    var values = try values(of: object, place)
    let number = try values.integer("XD_PAttK_attributeType") ?? 0
    let type = CompiledModelReader.types[number]
    if type == nil { warn("the type \(number) of \(place) isn't known, and is read as Undefined") }
    var attribute = AttributeDefinition(
      name, type ?? .undefined, isOptional: try values.flag("XD_PPSK_isOptional"),
      isTransient: try values.flag("XD_PPSK_isTransient"))
    attribute.userInfo = try values.userInfo("XD_PPSK_userInfo")
    attribute.valueTransformerName = try values.text("XD_PAttK_valueTransformerName")
    if let text = try values.text("XD_PAttK_defaultValueAsString") {
      switch ModelValueText.defaultValue(text, type: attribute.type) {
      case .value(let value): attribute.defaultValue = value
      case .wrong(let expected): throw ArchiveDamage("the default value of \(place) is “\(text)”; \(expected)")
      case .unsupported: warn("the default value of \(place), “\(text)”, has no effect")
      }
    }
    if try values.flag("XD_PPSK_isIndexed"), !attribute.isTransient {
      let title = name.prefix(1).uppercased() + name.dropFirst()
      entity.indexes.append(FetchIndexDefinition("by\(title)Index", elements: [.init(property: name)]))
    }
    finish(values)
    entity.attributes.append(attribute)
  }

  private mutating func readRelationship(
    _ name: String, _ object: KeyedArchive.Coded, into entity: inout EntityDefinition
  ) throws(ArchiveDamage) {
    let place = "\(entity.name).\(name)"
    var values = try values(of: object, place)
    guard let destination = try values.name("XD_PRK_destination") else {
      warn("the relationship \(place) has no destination; it is left out")
      return
    }
    let isToMany = try values.flag("XD_PRK_isToMany")
    let maximum = try values.integer("XD_PRK_maxCount").map { Int(clamping: max(0, $0)) }
    var relationship = RelationshipDefinition(
      name, to: destination, inverse: try values.name("XD_PRK_inverseRelationship"), isToMany: isToMany,
      isOptional: try values.flag("XD_PPSK_isOptional"),
      minimumCount: Int(clamping: max(0, try values.integer("XD_PRK_minCount") ?? 0)),
      maximumCount: isToMany ? maximum : 1)
    relationship.isTransient = try values.flag("XD_PPSK_isTransient")
    relationship.userInfo = try values.userInfo("XD_PPSK_userInfo")
    switch try values.integer("XD_PRK_deleteRule") ?? 1 {
    case 0: relationship.deleteRule = .noAction
    case 1: relationship.deleteRule = .nullify
    case 2: relationship.deleteRule = .cascade
    case 3: relationship.deleteRule = .deny
    case let rule: warn("the delete rule \(rule) of \(place) isn't known, and is read as Nullify")
    }
    // Every relationship has an index without asking for it.
    values.ignore("XD_PPSK_isIndexed")
    finish(values)
    entity.relationships.append(relationship)
  }

  // MARK: Values

  /// The values of an element's stereotypes.
  private func values(of object: KeyedArchive.Coded, _ place: String) throws(ArchiveDamage) -> StereotypeValues {
    var items: [String: KeyedArchive.Item] = [:]
    for (_, item) in try archive.entries("XDBucketForStereotypesstorage", of: object) {
      guard case .coded(let stereotype) = item else { continue }
      for (name, item) in try archive.entries("XDBucketForOwnedAttributesstorage", of: stereotype) {
        guard case .coded(let value) = item else { continue }
        items[name] = try archive.item("_default", of: value)
      }
    }
    var values = StereotypeValues(archive: archive, place: place, items: items)
    // They say what Spotlight and the store's copy outside the database do on a Mac.
    values.ignore("XD_PPSK_isSpotlightIndexed", "XD_PPSK_isStoredInTruthFile")
    return values
  }

  /// Warns of the values that nothing has asked for.
  private mutating func finish(_ values: StereotypeValues) {
    for name in values.unread { warn("\(values.place) has a value \(name), which isn't known; it has no effect") }
  }
}

/// The values of an element's stereotypes, by name. It knows which were asked for.
private struct StereotypeValues {
  let archive: KeyedArchive
  let place: String
  private var items: [String: KeyedArchive.Item]

  init(archive: KeyedArchive, place: String, items: [String: KeyedArchive.Item]) {
    self.archive = archive
    self.place = place
    self.items = items
  }

  /// The names of the values that weren't asked for, in order, but for those without a value.
  var unread: [String] {
    items.filter { if case .null = $0.value { false } else { true } }.keys.sorted()
  }

  mutating func ignore(_ names: String...) {
    for name in names { items[name] = nil }
  }

  private mutating func take(_ name: String) -> KeyedArchive.Item { items.removeValue(forKey: name) ?? .null }

  mutating func text(_ name: String) throws(ArchiveDamage) -> String? { try archive.text(take(name)) }

  mutating func integer(_ name: String) throws(ArchiveDamage) -> Int64? { try archive.integer(take(name)) }

  mutating func flag(_ name: String) throws(ArchiveDamage) -> Bool { try integer(name) ?? 0 != 0 }

  mutating func elements(_ name: String) throws(ArchiveDamage) -> [KeyedArchive.Item] {
    guard case .coded(let list) = take(name) else { return [] }
    return try archive.elements(of: list)
  }

  /// The name of the element that a value is.
  mutating func name(_ name: String) throws(ArchiveDamage) -> String? {
    guard case .coded(let element) = take(name) else { return nil }
    return try archive.text("_name", of: element)
  }

  mutating func userInfo(_ name: String) throws(ArchiveDamage) -> [String: String] {
    guard case .coded(let dictionary) = take(name) else { return [:] }
    var info: [String: String] = [:]
    for (key, item) in try archive.entries(of: dictionary) {
      if let text = try archive.text(item) { info[key] = text }
    }
    return info
  }
}
