import ManagedObjects

/// Builds the entities of a model from the profiles of files.
///
/// A column becomes an attribute of the same name where Core Data allows that, otherwise of an allowed name, with
/// the column as `mappedKeyName`. A reference becomes a to-one relationship with an inverse; its column is an attribute
/// as well only where it is part of the key. Attributes are optional except for the key's: files are samples, and the next
/// one may have a gap.
struct DefinitionBuilding {
  private let files: [DraftFile]
  private(set) var definitions: [EntityDefinition] = []
  /// The names that an entity's properties have, in lower case.
  private var taken: [Set<String>]
  /// The attribute of each column.
  private var attributeNames: [[Int: String]] = []

  init(_ files: [DraftFile]) {
    self.files = files
    taken = Array(repeating: [], count: files.count)
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
  }

  private mutating func addEntity(_ index: Int, _ references: [Int: ReferenceProbe]) {
    let file = files[index]
    var entity = EntityDefinition(
      file.entity, className: file.entity, userInfo: [ImportOrder.fileNameKey: file.profile.input.name])
    entity.codeGenerationType = "class"
    var names: [Int: String] = [:]
    for (column, facts) in file.columns.enumerated() where !facts.isLeftOut {
      let isKey = file.key.contains(column)
      guard isKey || references[column] == nil else { continue }
      let name = NameText.unique(NameText.property(of: facts.name), among: &taken[index])
      names[column] = name
      // Part of the key that refers to another file has that key's type.
      let type = references[column].map { files[$0.target].columns[$0.key].type } ?? facts.type
      var attribute = AttributeDefinition(name, type.type, isOptional: !isKey)
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
        userInfo: ["mappedKeyName": column.name, "relatedByAttribute": keyName]))
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
