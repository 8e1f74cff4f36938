import ManagedObjects
import Synchronization

/// Some of the objects that a trial would insert or change, with their values as they would be stored. It is filled on the
/// import's thread, and read after it.
package final class ImportExamples: Sendable {
  /// A value that would be stored.
  package struct Change: Sendable, Hashable {
    /// The attribute, or the relationship to one object.
    package let property: String
    /// As text, cut where it is long; nil where there is none.
    package let old: String?
    package let new: String?
  }

  /// One object.
  package struct Example: Sendable, Hashable {
    package let entity: String
    /// Its key, where its entity has one.
    package let key: String?
    /// Whether it would be inserted; it would be changed otherwise.
    package let isNew: Bool
    /// In the order of their names.
    package let changes: [Change]
  }

  /// Objects of each sort, at most.
  package static let most = 5
  /// Values of an object, at most.
  static let mostChanges = 40
  /// Characters of a value, at most.
  static let longest = 200

  private let found = Mutex<[Example]>([])

  package init() {}

  /// Those that are inserted, and after them those that are changed.
  package var all: [Example] {
    found.withLock { found in found.filter(\.isNew) + found.filter { !$0.isNew } }
  }

  /// Whether there are enough. Until then batches are written object by object, because the faster ways have no objects.
  var isFull: Bool { wanted.inserted == 0 && wanted.changed == 0 }

  private var wanted: (inserted: Int, changed: Int) {
    found.withLock { found in
      let inserted = found.count(where: \.isNew)
      return (Self.most - min(inserted, Self.most), Self.most - min(found.count - inserted, Self.most))
    }
  }

  /// What the next save of a context would do to objects of an entity. Before the save, on the context's queue.
  func examples(of entity: EntityDescription, in context: ManagedObjectContext) -> [Example] {
    let wanted = wanted
    var examples: [Example] = []
    for object in context.insertedObjects where examples.count < wanted.inserted && object.entity.isKindOf(entity) {
      examples.append(Self.example(of: object, isNew: true, in: context))
    }
    var changed = 0
    for object in context.updatedObjects where changed < wanted.changed && object.entity.isKindOf(entity) {
      let example = Self.example(of: object, isNew: false, in: context)
      // It was only looked at, or what refers to it has changed.
      guard !example.changes.isEmpty else { continue }
      examples.append(example)
      changed += 1
    }
    return examples
  }

  /// Keeps what a save has done.
  func keep(_ examples: [Example]) { found.withLock { $0 += examples } }

  private static func example(
    of object: ManagedObject, isNew: Bool, in context: ManagedObjectContext
  ) -> Example {
    let values = object.changedValues()
    let former = isNew ? [:] : object.committedValues(forKeys: Array(values.keys))
    let properties = object.entity.propertiesByName
    var changes: [Change] = []
    for (name, value) in values.sorted(by: { $0.key < $1.key }) where changes.count < mostChanges {
      if let relationship = properties[name] as? RelationshipDescription, relationship.isToMany { continue }
      changes.append(
        Change(
          property: name, old: text(of: former[name] ?? .null, in: context), new: text(of: value, in: context)))
    }
    return Example(entity: object.entity.name, key: key(of: object), isNew: isNew, changes: changes)
  }

  /// The values that identify an object, with commas between them; nil where its entity has no key or one of them is missing.
  private static func key(of object: ManagedObject) -> String? {
    guard let names = object.entity.uniquenessConstraints.first?.map(\.name) else { return nil }
    var texts: [String] = []
    for name in names {
      guard let value = object.value(forKey: name), value != .null else { return nil }
      texts.append(shortened(value.plainText))
    }
    return texts.joined(separator: ", ")
  }

  private static func text(of value: Value, in context: ManagedObjectContext) -> String? {
    switch value {
    case .null: nil
    case .data(let bytes): "\(bytes.count) bytes"
    case .object(let id): key(of: context.object(with: id)) ?? "one of \(id.entity.name)"
    default: shortened(value.plainText)
    }
  }

  private static func shortened(_ text: String) -> String {
    // A character may have any number of marks.
    guard text.utf8.count > longest else { return text }
    let scalars = text.unicodeScalars
    return scalars.dropFirst(longest).first != nil
      ? String(String.UnicodeScalarView(scalars.prefix(longest))) + "…" : text
  }
}
