import Foundation

/// Turns a compiled model into definitions: a keyed archive of an `NSManagedObjectModel`, as `.mom` files are, and the model
/// cache of a store.
///
/// What a definition can't hold is a warning that names it. Entities and properties are in the order of their names: the
/// archive's order is that of a hash table.
///
/// An archive may come from anyone, in a store to import. So what definitions are made of is bounded, by far more than models
/// have, and nothing is looked for among all of it again and again.
///
/// Source: the models of CoreDataPlus, each compared with the `.xcdatamodel` that it was compiled from, and the class
/// references of Core Data; the flags of attributes and fetch requests are those of its public headers.
struct CompiledModelReader {
  let file: String
  private let archive: KeyedArchive
  private var contents = ModelReader.Contents()
  /// The entities of the archive, by name.
  private var entities: [String: KeyedArchive.Coded] = [:]
  /// The parent of each entity, by name.
  private var parents: [String: String] = [:]
  /// The names of the properties of entities that others inherit from.
  private var propertyNames: [String: Set<String>] = [:]
  private var limits = CompiledModelLimits()

  private init(_ data: Data, file: String) throws(ArchiveDamage) {
    self.file = file
    archive = try KeyedArchive(data)
  }

  /// Reads the whole archive.
  /// - Throws: ``ModelError/unreadable(path:reason:)``.
  static func read(_ data: Data, file: String) throws(ModelError) -> ModelReader.Contents {
    guard data.count <= CompiledModelLimits.size else {
      throw .unreadable(
        path: file, reason: "it is larger than \(CompiledModelLimits.size >> 20) MiB, which no compiled model is")
    }
    do throws(ArchiveDamage) {
      var reader = try CompiledModelReader(data, file: file)
      try reader.readModel()
      return reader.contents
    } catch {
      throw .unreadable(path: file, reason: error.reason)
    }
  }

  /// Reads a store's model cache, which is a compressed archive.
  /// - Throws: ``ModelError/unreadable(path:reason:)``.
  static func read(cache data: Data, file: String) throws(ModelError) -> ModelReader.Contents {
    let archive: Data
    do throws(ArchiveDamage) {
      archive = try Inflate.decompress(data, limit: CompiledModelLimits.size)
    } catch {
      throw .unreadable(path: file, reason: "its model cache can't be read: \(error.reason)")
    }
    return try read(archive, file: file)
  }

  private mutating func warn(_ message: @autoclosure () -> String) {
    guard contents.warnings.count <= CompiledModelLimits.warnings else { return }
    let isLast = contents.warnings.count == CompiledModelLimits.warnings
    contents.warnings.append(
      ModelWarning(file: file, line: nil, message: isLast ? "there are more such warnings" : message()))
  }

  private mutating func readModel() throws(ArchiveDamage) {
    let model = try archive.root("NSManagedObjectModel")
    for (name, item) in try archive.entries("NSEntities", of: model) {
      guard case .coded(let entity) = item, entity.className == "NSEntityDescription" else {
        throw ArchiveDamage("the entity \(name) isn't an entity")
      }
      try limits.countEntity(name)
      entities[name] = entity
      if let parent = try archive.object("NSSuperentity", of: entity) {
        parents[name] = try archive.text("NSEntityName", of: parent)
      }
    }
    for name in entities.keys.sorted() {
      if let entity = entities[name] { try readEntity(name, entity) }
    }
    try CompiledModelLimits.check(contents.entities)
    for (name, item) in try archive.entries("NSFetchRequestTemplates", of: model) {
      guard case .coded(let request) = item else { continue }
      try limits.countProperty(name)
      if let template = try readFetchRequest(request, name: name, of: "the fetch request \(name)") {
        contents.templates.append(template)
      }
    }
    for (name, item) in try archive.entries("NSConfigurations", of: model) {
      guard case .coded(let members) = item, name != "PF_DEFAULT_CONFIGURATION_NAME" else { continue }
      var names: [String] = []
      for member in try archive.elements(of: members) {
        if let name = try archive.text(member) {
          names.append(name)
        } else if case .coded(let entity) = member, let name = try archive.text("NSEntityName", of: entity) {
          names.append(name)
        }
      }
      contents.configurations[name] = names.sorted()
    }
    var identifiers: [String] = []
    for item in try archive.elements("NSVersionIdentifiers", of: model) {
      if let text = try archive.text(item) { identifiers.append(text) }
    }
    identifiers.sort()
    contents.versionIdentifier = identifiers.first.flatMap { $0.isEmpty ? nil : $0 }
    if identifiers.count > 1 {
      warn("the model has several version identifiers, \(identifiers.joined(separator: ", ")); the first one counts")
    }
  }

  // MARK: Entities

  private mutating func readEntity(_ name: String, _ object: KeyedArchive.Coded) throws(ArchiveDamage) {
    var entity = EntityDefinition(
      name, parent: parents[name], isAbstract: try archive.flag("NSIsAbstract", of: object),
      className: try archive.text("NSClassNameForEntity", of: object).flatMap { $0 == "NSManagedObject" ? nil : $0 })
    entity.renamingIdentifier = try other("NSRenamingIdentifier", of: object, than: name)
    entity.versionHashModifier = try archive.text("NSVersionHashModifier", of: object)
    entity.userInfo = try readUserInfo(of: object, name)
    let ancestors = try ancestors(of: name)
    for ancestor in ancestors where propertyNames[ancestor] == nil {
      propertyNames[ancestor] = try entities[ancestor].map { object throws(ArchiveDamage) in
        Set(try archive.entries("NSProperties", of: object).map(\.key))
      }
    }
    var flagged: [String] = []
    for (key, item) in try archive.entries("NSProperties", of: object) {
      // A subentity's properties may include those that it inherits.
      guard case .coded(let property) = item,
        !ancestors.contains(where: { propertyNames[$0]?.contains(key) ?? false })
      else { continue }
      if !property.className.hasSuffix("AttributeDescription") { try limits.countProperty(key) }
      if try archive.flag("NSIsIndexed", of: property), property.className.hasSuffix("AttributeDescription") {
        flagged.append(key)
      }
      switch property.className {
      case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
        entity.attributes.append(try readAttribute(key, property, of: name))
      case "NSRelationshipDescription":
        if let relationship = try readRelationship(key, property, of: name) {
          entity.relationships.append(relationship)
        }
      case "NSFetchedPropertyDescription":
        if let fetched = try readFetchedProperty(key, property, of: name) { entity.fetchedProperties.append(fetched) }
      default: warn("\(name).\(key) is a \(property.className), which isn't known; it is left out")
      }
    }
    entity.uniquenessConstraints = try readNames("NSUniqueTuples", of: object)
    try readIndexes(of: object, flagged: flagged, into: &entity)
    contents.entities.append(entity)
  }

  /// The names of the entities that an entity inherits from.
  private func ancestors(of name: String) throws(ArchiveDamage) -> [String] {
    var names: [String] = []
    var seen: Set<String> = [name]
    var current = parents[name]
    while let parent = current, seen.insert(parent).inserted {
      names.append(parent)
      guard names.count < ModelAssembly.depthLimit else {
        throw ArchiveDamage("\(name) inherits from \(ModelAssembly.depthLimit) entities or more")
      }
      current = parents[parent]
    }
    return names
  }

  private mutating func readIndexes(
    of object: KeyedArchive.Coded, flagged: [String], into entity: inout EntityDefinition
  ) throws(ArchiveDamage) {
    for item in try archive.elements("NSFetchIndexDescriptions", of: object) {
      guard case .coded(let description) = item else { continue }
      let name = try archive.text("NSIndexName", of: description) ?? ""
      try limits.countProperty(name)
      if let index = try readIndex(name, description, of: entity.name) { entity.indexes.append(index) }
    }
    // Newer models keep the indexes a second time, in the older form.
    var older = try readNames("NSCompoundIndexes", of: object)
    older += flagged.map { [$0] }
    var known = Set(entity.indexes.map { $0.elements.map(\.property) })
    for names in older where known.insert(names).inserted {
      try limits.countProperty("")
      let elements = names.map { FetchIndexDefinition.Element(property: $0) }
      let name = names.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
      entity.indexes.append(FetchIndexDefinition("by\(name)Index", elements: elements))
    }
  }

  private mutating func readIndex(
    _ name: String, _ object: KeyedArchive.Coded, of entity: String
  ) throws(ArchiveDamage) -> FetchIndexDefinition? {
    var index = FetchIndexDefinition(name, elements: [])
    for item in try archive.elements("NSIndexElements", of: object) {
      guard case .coded(let description) = item else { continue }
      var element = FetchIndexDefinition.Element(property: try archive.text("NSPropertyName", of: description))
      if let expression = try expressionOfIndex(description) {
        guard let text = try predicateText(expression, "the index \(name) of \(entity)", isDerivation: true) else {
          return nil
        }
        element.property = nil
        element.expression = text
      }
      element.isAscending = try archive.flag("NSAscending", of: description)
      let type = try archive.integer("NSFetchIndexElementType", of: description)
      element.collation = type == 1 ? "RTree" : "Binary"
      guard element.property != nil || element.expression != nil else {
        warn("the index \(name) of \(entity) has an element without a property; it is left out")
        return nil
      }
      index.elements.append(element)
    }
    if let predicate = try archive.object("NSPartialIndexPredicate", of: object) {
      guard let text = try predicateText(predicate, "the index \(name) of \(entity)") else { return nil }
      index.partialPredicateFormat = text
    }
    guard !index.elements.isEmpty else { return nil }
    return index
  }

  /// The expression of an index's element, which has a property that isn't stored.
  private func expressionOfIndex(_ element: KeyedArchive.Coded) throws(ArchiveDamage) -> KeyedArchive.Coded? {
    guard let property = try archive.object("NSProperty", of: element),
      property.className == "NSExpressionDescription"
    else { return nil }
    return try archive.object("NSExpression", of: property)
  }

  // MARK: Attributes

  /// The types of attributes, by Core Data's numbers.
  static let types: [Int64: AttributeType] = [
    100: .integer16, 200: .integer32, 300: .integer64, 400: .decimal, 500: .double, 600: .float, 700: .string,
    800: .boolean, 900: .date, 1000: .binaryData, 1100: .uuid, 1200: .uri, 1800: .transformable, 2000: .objectID,
    2100: .composite, 0: .undefined,
  ]

  /// Bits of an attribute's flags. The first two say where bounds are kept.
  private enum Flags {
    static let external: Int64 = 4
    static let preserved: Int64 = 16
    static let known: Int64 = 1 | 2 | external | preserved
  }

  private mutating func readAttribute(
    _ name: String, _ object: KeyedArchive.Coded, of entity: String, depth: Int = 0
  ) throws(ArchiveDamage) -> AttributeDefinition {
    try limits.countProperty(name)
    let place = "\(entity).\(name)"
    let number = try archive.integer("NSAttributeType", of: object) ?? 0
    let isComposite = object.className == "NSCompositeAttributeDescription"
    if Self.types[number] == nil { warn("the type \(number) of \(place) isn't known, and is read as Undefined") }
    var attribute = AttributeDefinition(
      name, isComposite ? .composite : Self.types[number] ?? .undefined,
      isOptional: try archive.flag("NSIsOptional", of: object),
      isTransient: try archive.flag("NSIsTransient", of: object))
    attribute.renamingIdentifier = try other("NSRenamingIdentifier", of: object, than: name)
    attribute.versionHashModifier = try archive.text("NSVersionHashModifier", of: object)
    attribute.userInfo = try readUserInfo(of: object, place)
    if attribute.type == .transformable {
      attribute.valueTransformerName = try archive.text("NSValueTransformerName", of: object)
      attribute.attributeValueClassName = try archive.text("NSAttributeValueClassName", of: object)
    }
    let flags = try archive.integer("NSFlagsKey", of: object) ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & Flags.external != 0
    attribute.preservesValueInHistoryOnDeletion = flags & Flags.preserved != 0
    if flags & ~Flags.known != 0 { warn("\(place) has flags that aren't known: \(flags & ~Flags.known)") }

    let item = try archive.item("NSDefaultValue", of: object)
    if let value = try archive.value(item, attribute.type) {
      attribute.defaultValue = value
    } else if case .coded(let value) = item {
      warn("the default value of \(place), of the class \(value.className), has no effect")
    } else {
      warn("the default value of \(place) isn't one of \(attribute.type.rawValue), and has no effect")
    }
    if object.className == "NSDerivedAttributeDescription" { try readDerivation(of: object, into: &attribute, place) }
    try readValidation(of: object, into: &attribute, place)
    if isComposite { try readElements(of: object, into: &attribute, place, depth: depth) }
    return attribute
  }

  private mutating func readDerivation(
    of object: KeyedArchive.Coded, into attribute: inout AttributeDefinition, _ place: String
  ) throws(ArchiveDamage) {
    guard let expression = try archive.object("NSDerivationExpression", of: object) else {
      return warn("\(place) is derived and has no expression; it is read as an attribute that isn't")
    }
    attribute.derivationExpression = try predicateText(expression, place, isDerivation: true)
    if try archive.object("NSFilteringPredicate", of: object) != nil {
      warn("the derived attribute \(place) has a filter, which has no effect")
    }
  }

  /// Composites keep their attributes in an array or a dictionary.
  private mutating func readElements(
    of object: KeyedArchive.Coded, into attribute: inout AttributeDefinition, _ place: String, depth: Int
  ) throws(ArchiveDamage) {
    guard depth < 8 else { throw ArchiveDamage("the composite attribute \(place) is nested too deep") }
    attribute.compositeName = try archive.text("NSCompositeName", of: object) ?? place
    for field in ["NSElements", "NSCompositeElements", "NSCompositeAttributes"] where object.has(field) {
      var members = try archive.elements(field, of: object)
      if members.isEmpty || !members.contains(where: { if case .coded = $0 { true } else { false } }) {
        members = try archive.entries(field, of: object).map(\.value)
      }
      for item in members {
        guard case .coded(let member) = item, let name = try archive.text("NSPropertyName", of: member) else {
          continue
        }
        attribute.compositeElements.append(try readAttribute(name, member, of: place, depth: depth + 1))
      }
    }
    if attribute.compositeElements.isEmpty {
      warn(
        "the elements of the composite attribute \(place) weren't found; its fields are "
          + object.fieldNames.prefix(20).joined(separator: ", ")
      )
    }
  }

  /// The bounds and the pattern, which are predicates over the value or over a text's `length`, and other such predicates.
  private mutating func readValidation(
    of object: KeyedArchive.Coded, into attribute: inout AttributeDefinition, _ place: String
  ) throws(ArchiveDamage) {
    let texts = try archive.elements("NSValidationWarnings", of: object)
    for (index, item) in try archive.elements("NSValidationPredicates", of: object).enumerated() {
      guard case .coded(let predicate) = item else { continue }
      var changed = attribute
      if try readBounds(predicate, into: &changed, depth: 0) {
        attribute = changed
      } else if let text = try predicateText(predicate, "the validation of \(place)") {
        // Xcode's own warnings are numbers of errors.
        let warning = try texts.indices.contains(index) ? archive.text(texts[index]) : nil
        keep(
          ValidationPredicate(text, warning: warning ?? "the value of \(attribute.name) isn't valid"), in: &attribute,
          place)
      }
    }
    let bound: AttributeType = attribute.type == .string ? .integer64 : attribute.type
    if let least = try archive.value(archive.item("NSMinValue", of: object), bound), !least.isNull {
      attribute.minimumValue = least
    }
    if let most = try archive.value(archive.item("NSMaxValue", of: object), bound), !most.isNull {
      attribute.maximumValue = most
    }
  }

  /// Adds a validation predicate, unless it can't be evaluated here.
  private mutating func keep(_ predicate: ValidationPredicate, in attribute: inout AttributeDefinition, _ place: String)
  {
    let probe = EntityDescription.ofColumns(place, [AttributeDefinition(attribute.name, attribute.type)])
    do {
      // Its attributes refer to it unowned.
      try withExtendedLifetime(probe) {
        for described in probe.attributes { _ = try PredicateRule(predicate, of: described) }
      }
      attribute.validationPredicates.append(predicate)
    } catch {
      warn("the validation predicate of \(place), \(predicate.predicateFormat), has no effect: \(error)")
    }
  }

  /// Whether the whole predicate consists of bounds and patterns.
  private func readBounds(
    _ predicate: KeyedArchive.Coded, into attribute: inout AttributeDefinition, depth: Int
  ) throws(ArchiveDamage) -> Bool {
    if predicate.className == "NSCompoundPredicate" {
      guard depth < 4, try archive.integer("NSCompoundPredicateType", of: predicate) == 1 else { return false }
      for item in try archive.elements("NSSubpredicates", of: predicate) {
        guard case .coded(let part) = item, try readBounds(part, into: &attribute, depth: depth + 1) else {
          return false
        }
      }
      return true
    }
    guard predicate.className == "NSComparisonPredicate",
      let left = try archive.object("NSLeftExpression", of: predicate),
      let right = try archive.object("NSRightExpression", of: predicate),
      right.className == "NSConstantValueExpression",
      let operation = try archive.object("NSPredicateOperator", of: predicate)
    else { return false }
    let constant = try archive.item("NSConstantValue", of: right)
    let isLength = try pathName(left) == "length"
    guard isLength ? attribute.type == .string : left.className == "NSSelfExpression" else { return false }
    switch try archive.integer("NSOperatorType", of: operation) {
    case 6 where !isLength && attribute.type == .string && attribute.regularExpression == nil:
      guard let pattern = try archive.text(constant), pattern.utf8.count <= CompiledModelLimits.pattern else {
        return false
      }
      attribute.regularExpression = pattern
      return true
    case 3?:
      guard let value = try bound(constant, isLength, attribute.type) else { return false }
      attribute.minimumValue = value
      return true
    case 1?:
      guard let value = try bound(constant, isLength, attribute.type) else { return false }
      attribute.maximumValue = value
      return true
    default: return false
    }
  }

  private func bound(_ item: KeyedArchive.Item, _ isLength: Bool, _ type: AttributeType) throws(ArchiveDamage) -> Value?
  {
    if type == .string && !isLength { return nil }
    guard let value = try archive.value(item, isLength ? .integer64 : type), !value.isNull else { return nil }
    return value
  }

  /// The name that a key path of one name consists of.
  private func pathName(_ expression: KeyedArchive.Coded) throws(ArchiveDamage) -> String? {
    guard expression.className == "NSKeyPathExpression",
      case .coded(let path)? = try archive.elements("NSArguments", of: expression).first
    else { return nil }
    return try archive.text("NSKeyPath", of: path)
  }

  // MARK: Relationships and fetched properties

  private mutating func readRelationship(
    _ name: String, _ object: KeyedArchive.Coded, of entity: String
  ) throws(ArchiveDamage) -> RelationshipDefinition? {
    let place = "\(entity).\(name)"
    var destination = try archive.text("_NSDestinationEntityName", of: object)
    if destination == nil, let target = try archive.object("NSDestinationEntity", of: object) {
      destination = try archive.text("NSEntityName", of: target)
    }
    guard let destination else {
      warn("the relationship \(place) has no destination; it is left out")
      return nil
    }
    var inverse = try archive.text("_NSInverseRelationshipName", of: object)
    if inverse == nil, let other = try archive.object("NSInverseRelationship", of: object) {
      inverse = try archive.text("NSPropertyName", of: other)
    }
    // Without a limit it is -1 or 0.
    let maximum = Int(clamping: max(0, try archive.integer("NSMaxCount", of: object) ?? 0))
    var relationship = RelationshipDefinition(
      name, to: destination, inverse: inverse, isToMany: maximum != 1,
      isOrdered: try archive.flag("NSIsOrdered", of: object),
      isOptional: try archive.flag("NSIsOptional", of: object),
      minimumCount: Int(clamping: max(0, try archive.integer("NSMinCount", of: object) ?? 0)), maximumCount: maximum)
    switch try archive.integer("NSDeleteRule", of: object) ?? 0 {
    case 0: relationship.deleteRule = .noAction
    case 1: relationship.deleteRule = .nullify
    case 2: relationship.deleteRule = .cascade
    case 3: relationship.deleteRule = .deny
    case let rule: warn("the delete rule \(rule) of \(place) isn't known, and is read as Nullify")
    }
    relationship.isTransient = try archive.flag("NSIsTransient", of: object)
    relationship.renamingIdentifier = try other("NSRenamingIdentifier", of: object, than: name)
    relationship.versionHashModifier = try archive.text("NSVersionHashModifier", of: object)
    relationship.userInfo = try readUserInfo(of: object, place)
    return relationship
  }

  private mutating func readFetchedProperty(
    _ name: String, _ object: KeyedArchive.Coded, of entity: String
  ) throws(ArchiveDamage) -> FetchedPropertyDefinition? {
    let place = "\(entity).\(name)"
    guard let request = try archive.object("NSFetchRequest", of: object),
      let template = try readFetchRequest(request, name: name, of: "the fetched property \(place)")
    else { return nil }
    var property = FetchedPropertyDefinition(
      name, entityName: template.entityName, predicateFormat: template.predicateFormat,
      userInfo: try readUserInfo(of: object, place))
    property.fetchLimit = template.fetchLimit
    property.includesSubentities = template.includesSubentities
    return property
  }

  private mutating func readFetchRequest(
    _ object: KeyedArchive.Coded, name: String, of place: String
  ) throws(ArchiveDamage) -> FetchRequestTemplateDefinition? {
    var entity = try archive.text("NSEntityName", of: object)
    if entity == nil { entity = try archive.text("NSEntity", of: object) }
    if entity == nil, let target = try archive.object("NSEntity", of: object) {
      entity = try archive.text("NSEntityName", of: target)
    }
    guard let entity else {
      warn("\(place) has no entity; it is left out")
      return nil
    }
    var template = FetchRequestTemplateDefinition(
      name, entityName: entity, predicateFormat: nil,
      fetchLimit: Int(clamping: max(0, try archive.integer("NSFetchLimit", of: object) ?? 0)))
    if let predicate = try archive.object("NSPredicate", of: object) {
      guard let text = try predicateText(predicate, place) else { return nil }
      template.predicateFormat = text == "TRUEPREDICATE" ? nil : text
    }
    template.fetchBatchSize = Int(clamping: max(0, try archive.integer("NSBatchSize", of: object) ?? 0))
    if try archive.flag("NSHasFetchRequestFlags", of: object) {
      let flags = try archive.integer("NSFetchRequestFlags", of: object) ?? 0
      template.returnsDistinctResults = flags & 1 != 0
      template.includesSubentities = flags & 2 != 0
    }
    if try !archive.elements("NSSortDescriptors", of: object).isEmpty {
      warn("\(place) sorts its objects, which has no effect")
    }
    return template
  }

  // MARK: Parts

  /// The text of a predicate or expression; nil after a warning that names the place, which is left out.
  private mutating func predicateText(
    _ object: KeyedArchive.Coded, _ place: String, isDerivation: Bool = false
  ) throws(ArchiveDamage) -> String? {
    var writer = ArchivedPredicate(archive)
    do throws(ArchivedPredicate.Failure) {
      return try isDerivation ? writer.derivation(object) : writer.predicate(object)
    } catch {
      switch error {
      case .unknown(let part): warn("\(place) has \(part), which isn't known; it is left out")
      case .tooLarge: warn("\(place) has a predicate or expression that is too large; it is left out")
      case .damage(let damage): throw damage
      }
      return nil
    }
  }

  /// A name, unless it is that of the object itself, which is what is archived where there is none.
  private func other(_ field: String, of object: KeyedArchive.Coded, than name: String) throws(ArchiveDamage) -> String?
  {
    guard let text = try archive.text(field, of: object), text != name, !text.isEmpty else { return nil }
    return text
  }

  /// Lists of names, each of which may be a text or a property.
  private func readNames(_ field: String, of object: KeyedArchive.Coded) throws(ArchiveDamage) -> [[String]] {
    var lists: [[String]] = []
    for item in try archive.elements(field, of: object) {
      guard case .coded(let list) = item else { continue }
      var names: [String] = []
      for element in try archive.elements(of: list) {
        if let name = try archive.text(element) {
          names.append(name)
        } else if case .coded(let property) = element, let name = try archive.text("NSPropertyName", of: property) {
          names.append(name)
        }
      }
      if !names.isEmpty { lists.append(names) }
    }
    return lists
  }

  private mutating func readUserInfo(of object: KeyedArchive.Coded, _ place: String) throws(ArchiveDamage) -> [String:
    String]
  {
    var info: [String: String] = [:]
    for (key, item) in try archive.entries("NSUserInfo", of: object) {
      if let text = try archive.text(item) {
        info[key] = text
      } else if let number = try archive.integer(item) {
        info[key] = "\(number)"
      } else {
        warn("the user info of \(place) has a \(key) that isn't a text; it is left out")
      }
    }
    return info
  }
}
