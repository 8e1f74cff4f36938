import Foundation

/// Names that Xcode's model editor takes.
enum NameText {
  /// Letters, digits and the underscore, of ASCII.
  static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
    default: false
    }
  }

  /// The text without accents, where there are any.
  static func unaccented(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    return text.replacingOccurrences(of: "ß", with: "ss").decomposedStringWithCanonicalMapping.unicodeScalars
      .filter { !(0x0300...0x036F).contains($0.value) }.reduce(into: "") { $0.unicodeScalars.append($1) }
  }

  /// Whether a property may have this name: a lower-case letter, then letters, digits and underscores; not a name
  /// that managed objects or Swift have already.
  static func isProperty(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, (0x61...0x7A).contains(first.value), name.utf8.count <= 120,
      name.unicodeScalars.allSatisfy(isWord)
    else { return false }
    return !reserved.contains(name)
  }

  /// The name of the property for a column: the column's own where allowed, otherwise its words in
  /// `camelCase`.
  static func property(of column: String) -> String {
    if isProperty(column) { return column }
    var words = EntityNames.words(of: column)
    if let first = words.first { words[0] = first.prefix(1).lowercased() + first.dropFirst() }
    for index in words.indices.dropFirst() {
      words[index] = words[index].prefix(1).uppercased() + words[index].dropFirst()
    }
    var name = String(words.joined().prefix(100))
    if name.isEmpty { name = "column" }
    if name.first?.isNumber == true { name = "column" + name }
    return isProperty(name) ? name : name + "Value"
  }

  /// The name, with the first number after it that makes it unique if necessary.
  static func unique(_ name: String, among taken: inout Set<String>) -> String {
    var candidate = name
    var number = 2
    // A store's columns can't differ by case alone.
    while !taken.insert(candidate.lowercased()).inserted {
      candidate = "\(name)\(number)"
      number += 1
    }
    return candidate
  }

  /// Names that objects already have, in Core Data and here, and Swift's reserved words.
  private static let reserved: Set<String> = [
    "awakeFromFetch", "awakeFromInsert", "changedValues", "class", "classForCoder", "committedValues", "copy",
    "debugDescription", "delete", "description", "entity", "faultingState", "hasChanges", "hasPersistentChangedValues",
    "hash", "hashValue", "init", "initialize", "isDeleted", "isEqual", "isFault", "isInserted", "isProxy", "isUpdated",
    "keyPathNames", "load", "managedObjectContext", "mutableCopy", "new", "objectID", "observationInfo",
    "propertyNames",
    "propertyTypes", "release", "retain", "save", "self", "superclass", "validate", "version", "zone",
    "as", "associatedtype", "break", "case", "catch", "continue", "default", "defer", "deinit", "do", "else", "enum",
    "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "inout",
    "internal", "is", "let", "nil", "operator", "private", "protocol", "public", "repeat", "rethrows", "return",
    "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
    "while",
  ]
}
