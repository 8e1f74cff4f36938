import ControlAPI

/// What the form of an object sends. The fields of a property follow each other, beginning with its name, so that names of
/// properties are values only.
struct DataEditForm: Sendable {
  /// What the form can be sent for. The raw values are in the form.
  enum Action: String, Sendable, CaseIterable {
    case check, save

    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
  }

  /// A property as it was typed.
  struct Entry: Sendable, Hashable {
    let property: String
    /// What it was when the form was made; nil for no value.
    var shown: String?
    var typed = ""
    /// Whether the box for no value is checked.
    var isNone = false
    /// Whether what is in the store is to stay, after a conflict.
    var yields = false
  }

  private(set) var action = Action.check
  private(set) var version: String?
  private(set) var entries: [Entry] = []

  /// Reads `do`, `version`, and for each property `property`, `shown`, `value`, `none` and `take`.
  /// - Throws: ``QueryError``.
  init(parsing text: String) throws {
    var properties: Set<String> = []
    for item in text.split(separator: "&") {
      let pair = try QueryString(parsing: String(item))
      guard let name = pair.names.first, let value = pair[name] else { continue }
      switch name {
      case "do":
        guard let known = Action(rawValue: value) else {
          let words = Action.allCases.map(\.rawValue).joined(separator: ", ")
          throw QueryError.invalid(name: "do", value: value, expected: "one of " + words)
        }
        action = known
      case "version": version = value
      case "property":
        guard properties.insert(value).inserted else { throw QueryError.repeated(name: value) }
        entries.append(Entry(property: value))
      case "shown", "value", "none", "take":
        guard !entries.isEmpty else { throw QueryError.missing(name: "property") }
        let last = entries.count - 1
        switch name {
        case "shown": entries[last].shown = Self.plain(value)
        case "value": entries[last].typed = Self.plain(value)
        case "none": entries[last].isNone = true
        default: entries[last].yields = value == "theirs"
        }
      default: throw QueryError.invalid(name: name, value: value, expected: "a field of the form")
      }
    }
  }

  func entry(_ property: String) -> Entry? { entries.first { $0.property == property } }

  /// The change that was typed: only what isn't as it was shown.
  func edit(of object: EditableObject) -> ObjectEdit {
    var edit = ObjectEdit(store: object.store, object: object.object, version: version)
    for entry in entries where !entry.yields {
      guard let property = object.properties.first(where: { $0.name == entry.property }) else {
        // The model has changed: the check says so.
        edit.values[entry.property] = .string(entry.typed)
        continue
      }
      let wanted = Self.wanted(entry, of: property)
      guard wanted != entry.shown else { continue }
      if let wanted { edit.values[property.name] = .string(wanted) } else { edit.cleared.append(property.name) }
    }
    return edit
  }

  /// What a property is to be; nil for no value.
  static func wanted(_ entry: Entry, of property: EditableObject.Property) -> String? {
    // Who types over a text means it, also where the box is still checked.
    if entry.isNone, entry.typed.isEmpty || entry.typed == entry.shown { return nil }
    // An empty field is no number and no date; of a text it is one without characters.
    return entry.typed.isEmpty && !DataEditField.mayBeEmpty(property) ? nil : entry.typed
  }

  /// The text of a value, as a field has it; nil for null.
  static func text(of value: JSONValue) -> String? {
    switch value {
    case .null: nil
    case .bool(let flag): flag ? "true" : "false"
    case .int(let number): String(number)
    case .double(let number): String(number)
    case .string(let text): plain(text)
    case .array, .object: ""
    }
  }

  /// A text with line feeds alone, as far as a field keeps its line ends.
  private static func plain(_ text: String) -> String {
    text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
  }
}
