import ControlAPI
import LadeTypes

/// What the form of the mapping editor says. It is the address of the page, but for fields that are left empty.
struct MappingForm: Sendable {
  private static let own = ["into", "recipe", "name", "sent"]

  /// The store and entity that records go into; nil before they are chosen.
  private(set) var target: (store: String, entity: String)?
  /// The recipe that the mapping began with.
  let recipe: String?
  /// What it is to be saved as.
  private(set) var name: String
  /// Whether somebody has seen the fields. Those of a new form are filled in.
  let isSent: Bool
  /// What the recipe says and the form has no field for: of a saved recipe it is kept, of another it is left out, because a saved
  /// recipe can't say all of it.
  private(set) var unshown: [String] = []
  /// Whether that is kept.
  private(set) var keepsUnshown = false
  private var kept: [String: OptionValue] = [:]
  private var keptOfProperties: [String: [String: OptionValue]] = [:]
  /// The fields' texts, by their names: a recipe's key, or `property:key`.
  private var texts: [String: String] = [:]

  /// Reads an address or a form's body.
  /// - Throws: ``QueryError``.
  init(_ query: QueryString) throws {
    let keys = Set(MappingField.ofFile.map(\.key) + Self.own)
    let propertyKeys = Set(MappingField.ofProperties.map(\.key) + ["column"])
    for name in query.names {
      let key = name.lastIndex(of: ":").map { String(name[name.index(after: $0)...]) }
      guard key.map(propertyKeys.contains) ?? keys.contains(name) else {
        throw QueryError.unknown(name: name, known: keys.sorted())
      }
      if !Self.own.contains(name), let text = query[name], !text.isEmpty { texts[name] = text }
    }
    if let into = query["into"], !into.isEmpty {
      guard let slash = into.firstIndex(of: "/") else {
        throw QueryError.invalid(name: "into", value: into, expected: "store/entity")
      }
      target = (String(into[..<slash]), String(into[into.index(after: slash)...]))
    }
    recipe = query["recipe"].flatMap { $0.isEmpty ? nil : $0 }
    name = query["name"] ?? ""
    isSent = query["sent"] != nil
  }

  /// The field at fault, of a problem with one of the options: `delimiter`, or `height:unit` for `options.properties.height.unit`.
  static func field(atFault field: String) -> String? {
    var parts = field.split(separator: ".").map(String.init)
    guard parts.count > 1, parts.removeFirst() == "options" else { return nil }
    guard parts[0] == "properties", parts.count > 2 else { return parts[0] }
    return "\(parts[1...].dropLast().joined(separator: ".")):\(parts[parts.count - 1])"
  }

  /// What a field is called on the page.
  static func title(ofField name: String) -> String {
    guard let colon = name.lastIndex(of: ":") else {
      return MappingField.ofFile.first { $0.key == name }?.title ?? name
    }
    let key = name[name.index(after: colon)...]
    let title = key == "column" ? "Column" : MappingField.ofProperties.first { $0.key == key }?.title ?? String(key)
    return "\(title) of \(name[..<colon])"
  }

  /// A field's text; empty if it says nothing.
  func text(_ name: String) -> String { texts[name] ?? "" }

  /// The text of a property's field.
  func text(_ key: String, of property: String) -> String { text("\(property):\(key)") }

  var into: String { target.map { "\($0.store)/\($0.entity)" } ?? "" }

  /// The form as an address says it.
  var query: QueryString {
    var query = QueryString()
    query["into"] = into
    query["recipe"] = recipe
    query["name"] = name.isEmpty ? nil : name
    query["sent"] = "1"
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) { query[name] = text }
    return query
  }

  // MARK: Filling in

  /// Takes what a recipe says: of a new form everything, of one that somebody has seen only what it doesn't show.
  mutating func fill(from recipe: RecipeDefinition) {
    keepsUnshown = recipe.isSaved
    if !isSent {
      target = (recipe.store, recipe.entity)
      if name.isEmpty, recipe.isSaved { name = recipe.name }
    }
    let fields = Dictionary(MappingField.ofFile.map { ($0.key, $0) }) { first, _ in first }
    for (key, value) in recipe.settings.sorted(by: { $0.key < $1.key }) {
      if key == "properties", case .map(let properties) = value {
        for (property, rule) in properties.sorted(by: { $0.key < $1.key }) { fill(property, from: rule) }
      } else if let text = fields[key]?.text(of: value) {
        if !isSent { texts[key] = text }
      } else {
        unshown.append(key)
        if recipe.isSaved { kept[key] = value }
      }
    }
  }

  private mutating func fill(_ property: String, from rule: OptionValue) {
    if let column = MappingField.scalar(rule) {
      if !isSent { texts["\(property):column"] = column }
      return
    }
    guard case .map(let keys) = rule else { return }
    for (key, value) in keys.sorted(by: { $0.key < $1.key }) {
      let field = key == "column" ? MappingField("column", "") : MappingField.ofProperties.first { $0.key == key }
      if let text = field?.text(of: value) {
        if !isSent { texts["\(property):\(key)"] = text }
      } else {
        unshown.append("properties.\(property).\(key)")
        if keepsUnshown { keptOfProperties[property, default: [:]][key] = value }
      }
    }
  }

  /// Chooses columns by their names, where nothing has been said.
  mutating func fill(from columns: FileColumns) {
    let ignored = ignoredColumns
    for property in columns.properties where text("column", of: property.name).isEmpty {
      guard text("constant", of: property.name).isEmpty else { continue }
      // A recipe that is there says what it wants beside what the model says.
      let column = property.column ?? (recipe == nil ? property.suggestion : nil)
      if let column, !ignored.contains(column) { texts["\(property.name):column"] = column }
    }
  }

  private var ignoredColumns: [String] { FieldList.items(of: text("ignored_columns")) }

  // MARK: The recipe

  /// What says how the file is read, before it is said what becomes of its columns.
  var readingOptions: [String: OptionValue] {
    let keys = Set(MappingField.reading.map(\.key))
    return kept.filter { keys.contains($0.key) }.merging(options(of: MappingField.reading)) { $1 }
  }

  /// The recipe that the form says, of which the model says nothing.
  func draft(for columns: FileColumns) -> RecipeDraft {
    var options = options(of: MappingField.ofFile.filter { $0.key != "mode" })
    var rules: [String: OptionValue] = [:]
    for property in columns.properties {
      if let rule = rule(for: property) { rules[property.name] = rule }
    }
    for (property, kept) in keptOfProperties {
      let own: [String: OptionValue] =
        switch rules[property] {
        case .map(let rule)?: rule
        case let column?: ["column": column]
        case nil: [:]
        }
      rules[property] = .map(kept.merging(own) { $1 })
    }
    if !rules.isEmpty { options["properties"] = .map(rules) }
    let ignored = ignoredColumns + unwanted(columns).filter { !ignoredColumns.contains($0) }
    if !ignored.isEmpty { options["ignored_columns"] = .list(ignored.map { .string($0) }) }
    return RecipeDraft(
      store: columns.store, entity: columns.entity, mode: ImportMode(rawValue: text("mode")),
      options: kept.merging(options) { $1 })
  }

  private func options(of fields: [MappingField]) -> [String: OptionValue] {
    fields.reduce(into: [:]) { options, field in options[field.key] = field.value(of: text(field.key)) }
  }

  private func rule(for property: FileColumns.Property) -> OptionValue? {
    var rule: [String: OptionValue] = [:]
    for field in property.fields { rule[field.key] = field.value(of: text(field.key, of: property.name)) }
    // One key is a name, several are a list.
    if case .list(let keys)? = rule["key"], keys.count == 1 { rule["key"] = keys[0] }
    let column = text("column", of: property.name)
    if !column.isEmpty, column != property.column { rule["column"] = .string(column) }
    if rule.isEmpty { return nil }
    return rule.count == 1 ? rule["column"] ?? .map(rule) : .map(rule)
  }

  /// Columns that a property would take by its name, and is not to.
  private func unwanted(_ columns: FileColumns) -> [String] {
    let wanted = Set(columns.properties.map { text("column", of: $0.name) })
    return columns.properties.compactMap { property in
      guard let column = property.column, text("column", of: property.name).isEmpty, !wanted.contains(column) else {
        return nil
      }
      return text("constant", of: property.name).isEmpty ? column : nil
    }
  }

  /// The columns that nothing takes and that aren't ignored.
  func unused(_ columns: FileColumns) -> [String] {
    let taken = Set(columns.properties.map { text("column", of: $0.name) } + ignoredColumns + unwanted(columns))
    return columns.columns.map(\.name).filter { !taken.contains($0) }
  }

  /// The properties that need a value and have no column, no constant and no default.
  func missing(_ columns: FileColumns) -> [String] {
    columns.properties.filter { property in
      !property.isOptional && property.defaultValue == nil
        && ["column", "constant", "default"].allSatisfy { text($0, of: property.name).isEmpty }
    }.map(\.name)
  }

  /// The properties that are to take nothing, and take a column all the same: it has their name, and another property's, too.
  func unavoidable(_ columns: FileColumns) -> [FileColumns.Property] {
    let wanted = Set(columns.properties.map { text("column", of: $0.name) })
    return columns.properties.filter { property in
      property.column.map(wanted.contains) == true && text("column", of: property.name).isEmpty
        && text("constant", of: property.name).isEmpty
    }
  }
}

extension FileColumns.Property {
  /// The fields that a property of its kind can have, beside its column.
  var fields: [MappingField] {
    guard let type else {
      // A constant is the key of one object.
      let general = MappingField.ofProperty.filter { !isToMany || !["constant", "default"].contains($0.key) }
      return MappingField.ofRelationship + (isToMany ? [MappingField.separator] : []) + general
    }
    let own: [MappingField] =
      switch type {
      case "Date": MappingField.ofDate
      case "Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float": MappingField.ofNumber
      case "Boolean": MappingField.ofTruth
      case "Binary Data": MappingField.ofBytes
      case "Transformable": [MappingField.separator]
      default: []
      }
    return own + MappingField.ofProperty
  }
}
