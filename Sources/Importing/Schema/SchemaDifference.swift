package import ManagedObjects

/// Where a file doesn't fit its model, and what its recipe's contract says about it.
package struct SchemaDifference: Sendable, Hashable {
  /// One difference.
  package struct Change: Sendable, Hashable {
    package let subject: SchemaContract.Subject
    /// The file in an archive, the sheet, …; nil for a file that is the whole source.
    package let file: String?
    /// The entity; nil for a file that belongs to none.
    package let entity: String?
    /// The column, safe to print; nil for a new entity.
    package let column: String?
    /// The attribute that it is, or would become; nil if none can.
    package let attribute: String?
    /// The attribute's type; nil if there is no attribute yet.
    package let type: AttributeType?
    /// The type that holds all values; nil if no attribute can have it in place of its own.
    package let newType: AttributeType?
    /// How many values are concerned.
    package let values: Int64
    /// One of them, cut where it is long; nil where values are masked.
    package let example: String?
    /// Where the first of them is.
    package let line: Int64?
    package let term: SchemaContract.Term
    /// The attribute that takes a new column; nil if none can.
    var definition: AttributeDefinition?
  }

  /// The entities of files that belong to none, where the contract has them evolve.
  var newEntities: [EntityDefinition] = []
  package internal(set) var changes: [Change] = []
  /// Differences beyond those that are listed.
  package internal(set) var others = 0
  /// Records that could be read.
  package internal(set) var records: Int64 = 0
  /// Whether everything was read.
  package internal(set) var isWhole = true

  /// The most differences that are listed.
  static let limit = 1_000

  package init() {}

  mutating func add(_ change: Change) {
    if changes.count < Self.limit { changes.append(change) } else { others += 1 }
  }

  /// Whether an import would fail for one of them.
  package var isRefused: Bool { changes.contains { $0.term == .freeze } }
}

/// The types that an attribute may have in place of its own without a loss. A store is migrated to them as it is opened.
enum WiderTypes {
  /// The narrowest first.
  static func of(_ attribute: AttributeDescription, _ rule: PropertyRule?) -> [AttributeType] {
    let definition = attribute.definition
    // An element of a composite type may be one of others, too; a primary key is a row's number.
    guard !attribute.name.contains("."), attribute.entity.rootEntity.userInfo["primaryKey"] != attribute.name else {
      return []
    }
    let numbers: [AttributeType] =
      switch attribute.type {
      case .integer16: [.integer32, .integer64, .decimal]
      case .integer32: [.integer64, .decimal]
      case .integer64: [.decimal]
      case .boolean: rule?.trueWords == nil && rule?.falseWords == nil ? [.integer64, .decimal] : []
      case .float: [.double]
      default: []
      }
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal, .date, .uuid, .uri:
      return numbers + (mayBeText(definition, rule) ? [.string] : [])
    default: return []
    }
  }

  /// Bounds and defaults of numbers mean something else for texts, and notations of numbers and dates nothing.
  private static func mayBeText(_ definition: AttributeDefinition, _ rule: PropertyRule?) -> Bool {
    guard definition.defaultValue.isNull, definition.minimumValue.isNull, definition.maximumValue.isNull,
      definition.validationPredicates.isEmpty
    else { return false }
    guard let rule else { return true }
    return rule.dateFormat == nil && rule.timeZone == nil && rule.decimalSeparator == nil
      && rule.groupingSeparator == nil && rule.unit == nil && rule.negatives == nil && rule.trueWords == nil
      && rule.falseWords == nil && rule.values == nil && rule.constant == nil && rule.defaultValue == nil
  }
}
