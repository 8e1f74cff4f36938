import ManagedObjects

/// Builds the entities of a model from the profiles of files.
///
/// A column becomes an attribute of the same name where Core Data allows that, otherwise of an allowed name, with
/// the column as `mappedKeyName`. A reference becomes a to-one relationship with an inverse; its column is an attribute
/// as well only where it is part of the key. The foreign key holds row numbers, not keys, so its column is `<relationship>_row`:
/// a join by the name of a key column is an error rather than wrong. Attributes are optional except for the key's and those of
/// columns that the file itself says are never null: other files are samples, and the next one may have a gap.
///
/// Objects in a column become an entity of their own, to which a relationship of the column's name leads. They are found by
/// their key if they have one, otherwise they belong to their owner and are deleted with it. Arrays of texts become a
/// transformable attribute.
struct DefinitionBuilding {
  private let files: [DraftFile]
  private(set) var definitions: [EntityDefinition] = []
  /// The names that an entity's properties have, in lower case.
  private var taken: [Set<String>]
  /// The attribute of each column.
  private var attributeNames: [[Int: String]] = []
  /// The entities' names, in lower case.
  private var entityNames: Set<String>

  init(_ files: [DraftFile]) {
    self.files = files
    taken = Array(repeating: [], count: files.count)
    entityNames = Set(files.map { $0.entity.lowercased() })
  }

  mutating func build(into entities: inout [InferredModel.Entity]) {
    let references = files.map { file in
      Dictionary(grouping: file.references, by: \.column).compactMapValues { ReferenceProbe.best($0, in: files) }
    }
    for index in files.indices {
      addEntity(index, references[index])
      for (column, name) in attributeNames[index] {
        entities[index].columns[column].attribute = name
        let attribute = definitions[index].attributes.first { $0.name == name }
        if let type = attribute?.type.rawValue { entities[index].columns[column].type = type }
      }
    }
    for index in files.indices {
      let all = references[index].values.sorted { $0.column < $1.column }
      for probe in all { entities[index].columns[probe.column].reference = add(probe, of: index, among: all) }
    }
    for (index, file) in files.enumerated() {
      let base = FileNames.base(of: file.profile.input.name)
      for (column, facts) in file.columns.enumerated() {
        guard let nesting = facts.nesting, nesting.isOfObjects else { continue }
        let reference = addEntity(
          of: nesting, column: facts.name, owner: index, base: base,
          path: "\(file.profile.input.name): \(facts.name)", into: &entities)
        entities[index].columns[column].reference = reference
      }
    }
  }

  private mutating func addEntity(_ index: Int, _ references: [Int: ReferenceProbe]) {
    let file = files[index]
    var entity = EntityDefinition(
      file.entity, className: file.entity, userInfo: [ImportOrder.fileNameKey: file.profile.input.name])
    entity.codeGenerationType = "class"
    var names: [Int: String] = [:]
    for (column, facts) in file.columns.enumerated() {
      if facts.nesting?.isOfTexts == true {
        names[column] = Self.addList(facts.name, to: &entity, among: &taken[index])
        continue
      }
      if facts.isLeftOut { continue }
      let isKey = file.key.contains(column)
      guard isKey || references[column] == nil else { continue }
      let name = NameText.unique(NameText.property(of: facts.name), among: &taken[index])
      names[column] = name
      // Part of the key that refers to another file has that key's type.
      let type = references[column].map { files[$0.target].columns[$0.key].type } ?? facts.type
      var attribute = AttributeDefinition(name, type.type, isOptional: !isKey && !facts.isRequired)
      // Identifying numbers grow from file to file.
      if isKey, type.type.integerRange != nil { attribute.type = .integer64 }
      if name != facts.name { attribute.userInfo["mappedKeyName"] = facts.name }
      attribute.userInfo["dateFormat"] = type.dateFormat
      entity.attributes.append(attribute)
    }
    if !file.key.isEmpty { entity.uniquenessConstraints = [file.key.compactMap { names[$0] }] }
    attributeNames.append(names)
    definitions.append(entity)
  }

  /// Adds an attribute for arrays of texts, and returns its name.
  private static func addList(
    _ column: String, to entity: inout EntityDefinition, among taken: inout Set<String>
  ) -> String {
    let name = NameText.unique(NameText.property(of: column), among: &taken)
    var attribute = AttributeDefinition(name, .transformable)
    attribute.attributeValueClassName = "[String]"
    if name != column { attribute.userInfo["mappedKeyName"] = column }
    entity.attributes.append(attribute)
    return name
  }

  /// Adds the entity of a column's objects, and a relationship to it.
  private mutating func addEntity(
    of nesting: NestedProfile, column: String, owner: Int, base: String, path: String,
    into entities: inout [InferredModel.Entity]
  ) -> InferredModel.Reference {
    let plain = EntityNames.entity(of: column)
    let ownerName = definitions[owner].name
    let name = NameText.unique(
      entityNames.contains(plain.lowercased()) ? ownerName + plain : plain, among: &entityNames)
    let index = definitions.count
    let words = { (text: String) in EntityNames.words(of: text).map { $0.lowercased() } }
    let key = nesting.key(entity: words(name), base: words(column))
    var entity = EntityDefinition(name, className: name)
    entity.codeGenerationType = "class"
    var names: Set<String> = []
    var report = nesting.columns.map { InferredModel.Column(nested: $0, of: nesting.objects) }
    for (place, facts) in nesting.columns.enumerated() where !report[place].isLeftOut && facts.nested == 0 {
      let name = NameText.unique(NameText.property(of: facts.name), among: &names)
      let type = facts.type
      var attribute = AttributeDefinition(name, type.type, isOptional: place != key?.column)
      if name != facts.name { attribute.userInfo["mappedKeyName"] = facts.name }
      attribute.userInfo["dateFormat"] = type.dateFormat
      entity.attributes.append(attribute)
      if place == key?.column { entity.uniquenessConstraints = [[name]] }
      report[place].attribute = name
    }
    for (place, facts) in nesting.columns.enumerated()
    where !report[place].isLeftOut && facts.nesting?.isOfTexts == true {
      report[place].attribute = Self.addList(facts.name, to: &entity, among: &names)
    }
    definitions.append(entity)
    taken.append(names)
    let reference = relate(owner, to: index, by: nesting, key: key, column: column, base: base)
    // A place for the report, before those of the objects within.
    let place = entities.count
    entities.append(
      InferredModel.Entity(
        nested: name, path: path, records: nesting.objects, key: key.map { nesting.columns[$0.column].name },
        columns: report))
    for (inner, facts) in nesting.columns.enumerated() where !report[inner].isLeftOut {
      guard let nesting = facts.nesting, nesting.isOfObjects else { continue }
      let reference = addEntity(
        of: nesting, column: facts.name, owner: index, base: column, path: "\(path).\(facts.name)", into: &entities)
      entities[place].columns[inner].reference = reference
    }
    return reference
  }

  /// Adds the relationship from an owner to its nested objects, and its inverse.
  private mutating func relate(
    _ owner: Int, to index: Int, by nesting: NestedProfile, key: (column: Int, isShared: Bool)?, column: String,
    base: String
  ) -> InferredModel.Reference {
    let isShared = key.map { $0.isShared || !nesting.isToMany } ?? false
    let name = NameText.unique(NameText.property(of: column), among: &taken[owner])
    let inverse = NameText.unique(
      NameText.property(of: isShared ? base : definitions[owner].name), among: &taken[index])
    func info(_ name: String, isToMany: Bool) -> [String: String] {
      isToMany ? [:] : [RelationshipDefinition.columnNameKey: name + "_row"]
    }
    var there = RelationshipDefinition(
      name, to: definitions[index].name, inverse: inverse, isToMany: nesting.isToMany,
      deleteRule: key == nil ? .cascade : .nullify, userInfo: info(name, isToMany: nesting.isToMany))
    if name != column { there.userInfo["mappedKeyName"] = column }
    definitions[owner].relationships.append(there)
    definitions[index].relationships.append(
      RelationshipDefinition(
        inverse, to: definitions[owner].name, inverse: name, isToMany: isShared,
        userInfo: info(inverse, isToMany: isShared)))
    return InferredModel.Reference(
      relationship: name, inverse: inverse, entity: definitions[index].name,
      column: key.map { nesting.columns[$0.column].name }, matched: nesting.objects)
  }

  private mutating func add(
    _ probe: ReferenceProbe, of index: Int, among all: [ReferenceProbe]
  ) -> InferredModel.Reference {
    let file = files[index]
    let target = files[probe.target]
    let column = file.columns[probe.column]
    let name = NameText.unique(relationshipName(column, target), among: &taken[index])
    let base = NameText.property(of: FileNames.base(of: file.profile.input.name))
    let isOnly = all.count { $0.target == probe.target } == 1
    let inverseName: String
    if probe.target == index {
      inverseName = column.words.stem.contains("parent") && isOnly ? "children" : "\(base)_by_\(name)"
    } else {
      inverseName = isOnly ? base : "\(base)_by_\(name)"
    }
    let inverse = NameText.unique(inverseName, among: &taken[probe.target])
    let keyName = attributeNames[probe.target][probe.key] ?? target.columns[probe.key].name
    definitions[index].relationships.append(
      RelationshipDefinition(
        name, to: target.entity, inverse: inverse,
        userInfo: [
          "mappedKeyName": column.name, "relatedByAttribute": keyName,
          RelationshipDefinition.columnNameKey: name + "_row",
        ]))
    definitions[probe.target].relationships.append(
      RelationshipDefinition(inverse, to: file.entity, inverse: name, isToMany: true))
    return InferredModel.Reference(
      relationship: name, inverse: inverse, entity: target.entity, column: target.columns[probe.key].name,
      matched: probe.matched)
  }

  /// The column's name without the word for the key: `home_team_id` becomes `home_team`.
  private func relationshipName(_ column: DraftFile.Column, _ target: DraftFile) -> String {
    var name = column.name
    if let suffix = column.words.suffix, !column.words.stem.isEmpty {
      name = String(name.dropLast(suffix.count))
      while let last = name.last, !last.isLetter, !last.isNumber { name.removeLast() }
    } else if column.words.joined == target.entityWords.joined() + "id" {
      name = String(name.dropLast(2))
    }
    if name.isEmpty { name = target.entity }
    return NameText.property(of: name)
  }
}
