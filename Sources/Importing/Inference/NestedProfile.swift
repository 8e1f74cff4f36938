import Foundation
import ManagedObjects

/// What stands in the nested cells of a column: objects, which become an entity of their own, or lists of texts.
final class NestedProfile {
  /// Nested deeper than this, objects are left out.
  static let maximumDepth = 8

  /// Values that are one object, arrays of objects, arrays of texts, and others.
  private(set) var single: Int64 = 0
  private(set) var arrays: Int64 = 0
  private(set) var lists: Int64 = 0
  private(set) var others: Int64 = 0
  /// The objects in them.
  private(set) var objects: Int64 = 0
  /// A column for each key of the objects, in the order in which keys were met.
  private(set) var columns: [ColumnProfile] = []
  private var places: [String: Int] = [:]
  /// The number of keys that are tried.
  private static let mostIdentities = 32
  /// The keys by which the objects may be found: each with the content of its objects.
  private var identities: [String: NestedIdentity] = [:]
  /// An object with more keys than this isn't one with properties.
  static let mostColumns = 2_000
  /// Whether the objects have too many different keys, as maps have. No more of them are remembered then.
  private(set) var isMap = false
  private let budget: HashBudget
  private let depth: Int

  init(_ budget: HashBudget, depth: Int = 0) {
    self.budget = budget
    self.depth = depth
  }

  /// Whether all values are objects, or arrays of them.
  var isOfObjects: Bool { !isMap && objects > 0 && lists == 0 && others == 0 && !columns.isEmpty }
  /// Whether all values are arrays of texts.
  var isOfTexts: Bool { lists > 0 && others == 0 && single == 0 && arrays == 0 }
  /// Whether a value holds several objects.
  var isToMany: Bool { arrays > 0 }

  /// Takes a value into account.
  ///
  /// - Parameters:
  ///   - owner: a number of the record or object that it belongs to.
  ///   - limit: the values remembered of a column.
  func note(_ value: NestedValue, owner: Int64, limit: Int) {
    switch value {
    case .object(let values):
      single += 1
      note(values, owner: owner, limit: limit)
    case .array(let elements):
      let given = elements.filter { $0 != .null }
      if given.isEmpty { return }
      var objects: [[String: NestedValue]] = []
      var texts = 0
      for element in given {
        switch element {
        case .object(let values): objects.append(values)
        case .text: texts += 1
        default: break
        }
      }
      // A list of texts with a null in it is no [String].
      if texts == elements.count {
        lists += 1
      } else if objects.count == given.count {
        arrays += 1
        for values in objects { note(values, owner: owner, limit: limit) }
      } else {
        others += 1
      }
    case .null: return
    case .yes, .no, .number, .text: others += 1
    }
  }

  private func note(_ values: [String: NestedValue], owner: Int64, limit: Int) {
    objects += 1
    if isMap { return }
    for (key, value) in values.sorted(by: { $0.key < $1.key }) where value != .null {
      guard let place = places[key] ?? addColumn(key) else { return }
      // Values are remembered for the report alone.
      columns[place].note(
        value, limit: min(limit, ColumnProfile.repeatedLimit), owner: objects, depth: depth, budget: budget)
      guard !value.isNested, ColumnName(key).suffix != nil || ColumnName(key).isGeneric else { continue }
      // Each candidate looks at the whole object, and remembers much of it.
      if identities[key] == nil, identities.count >= Self.mostIdentities { continue }
      identities[key, default: NestedIdentity()].note(value, of: values, owner: owner, limit: limit)
    }
  }

  /// The place of a new column; nil if there are too many, in which case all are forgotten.
  private func addColumn(_ name: String) -> Int? {
    if columns.count == Self.mostColumns {
      isMap = true
      for column in columns.indices { columns[column].keys.removeAll() }
      (columns, places, identities) = ([], [:], [:])
      return nil
    }
    places[name] = columns.count
    columns.append(ColumnProfile(name, budget: budget))
    return columns.count - 1
  }

  /// The column by which objects can be found: its name is that of a key, every object has it, and objects with the same
  /// key are the same.
  ///
  /// - Parameter entity: the words of the entity's name, and of the column's.
  func key(entity: [String], base: [String]) -> (column: Int, isShared: Bool)? {
    for (place, column) in columns.enumerated() {
      guard ColumnName(column.name).keyRank(entity: entity, base: base) == 0, column.present == objects,
        column.blank == 0, let identity = identities[column.name], identity.isConsistent
      else { continue }
      switch column.type.type {
      case .string, .uuid, .integer64: return (place, identity.isShared)
      default: continue
      }
    }
    return nil
  }
}

/// Whether the objects with the same key are the same, and belong to one owner.
private struct NestedIdentity {
  private(set) var isConsistent = true
  /// Whether one object belongs to several owners.
  private(set) var isShared = false
  private var known: [NestedValue: (content: UInt64, owner: Int64)] = [:]

  mutating func note(_ key: NestedValue, of values: [String: NestedValue], owner: Int64, limit: Int) {
    guard isConsistent else { return }
    let content = NestedValue.object(values).data.withUnsafeBytes { KeyHash.of($0) }
    if let other = known[key] {
      isShared = isShared || other.owner != owner
      if other.content != content { forget() }
    } else if known.count < limit {
      known[key] = (content, owner)
    } else {
      // What can't be remembered can't be compared.
      forget()
    }
  }

  private mutating func forget() {
    isConsistent = false
    known = [:]
  }
}

extension ColumnProfile {
  /// What stands in it, if all its values are nested and can be imported.
  var nesting: NestedProfile? {
    guard present == 0, !name.isEmpty, let inner, inner.isOfObjects || inner.isOfTexts else { return nil }
    return inner
  }

  /// Takes a value of an object into account.
  mutating func note(_ value: NestedValue, limit: Int, owner: Int64, depth: Int, budget: HashBudget) {
    switch value {
    case .null: return
    case .yes, .no:
      present += 1
      types.noteBoolean()
      note(hash: value == .yes ? 1 : 2, limit: limit)
      noteExample(value == .yes ? "true" : "false")
    case .number(var text), .text(var text):
      if text.isEmpty { return }
      present += 1
      let isNumber = if case .number = value { true } else { false }
      text.withUTF8 { note(UnsafeRawBufferPointer($0), isNumber, limit) }
    case .array, .object: note(nested: value, owner: owner, limit: limit, depth: depth + 1, budget: budget)
    }
  }

  /// Takes a nested value into account.
  mutating func note(nested value: NestedValue, owner: Int64, limit: Int, depth: Int, budget: HashBudget) {
    nested += 1
    guard depth <= NestedProfile.maximumDepth else { return }
    let profile = inner ?? NestedProfile(budget, depth: depth)
    inner = profile
    profile.note(value, owner: owner, limit: limit)
  }
}
