// What an undo needs of a row that was changed or deleted: the former values of what the job changed, of a deleted row all.
//
// Of a to-many relationship it holds the differences, so that an undo leaves alone what others have added or removed since. One
// with an inverse to-one relationship is recorded at its other end, and here only in its order.

import Foundation
import ManagedObjects

/// What one property of a row was before.
struct BeforeValue: Equatable {
  enum Content: Equatable {
    /// The value of an attribute or a to-one relationship.
    case value(Value)
    /// The objects that a many-to-many relationship has lost and got.
    case members(lost: [ManagedObjectID], got: [ManagedObjectID])
    /// The order of a relationship.
    case order([ManagedObjectID])
    /// A value that a mask has replaced. It isn't kept.
    case masked
    /// What led to an object of an entity that the model doesn't have any more.
    case gone(entity: String)
  }

  let property: String
  let content: Content
}

extension BeforeValue {
  /// What a change of a row replaces; empty if it changes nothing that is stored.
  /// - Parameter masked: the slots of attributes whose former values aren't to be kept.
  static func ofChange(_ object: ManagedObject, masked: Set<Int> = []) -> [BeforeValue] {
    let (old, new) = (object.committed, object.slots)
    guard !old.isEmpty else { return [] }
    var values: [BeforeValue] = []
    for attribute in object.entity.attributes where !attribute.isTransient && !attribute.isDerived {
      if old[attribute.slot] != new[attribute.slot] {
        let isHidden = masked.contains(attribute.slot) && !old[attribute.slot].isNull
        values.append(
          BeforeValue(property: attribute.name, content: isHidden ? .masked : .value(old[attribute.slot])))
      }
    }
    for relationship in object.entity.relationships where !relationship.isUnstored {
      let (before, after) = (old[relationship.slot], new[relationship.slot])
      if before == after { continue }
      if !relationship.isToMany {
        values.append(BeforeValue(property: relationship.name, content: .value(before)))
        continue
      }
      guard before.isSet, after.isSet else { continue }
      let (former, present) = (before.relatedIDs, after.relatedIDs)
      if relationship.isManyToMany {
        let (formerSet, presentSet) = (Set(former), Set(present))
        let lost = former.filter { !presentSet.contains($0) }
        let got = present.filter { !formerSet.contains($0) }
        if !lost.isEmpty || !got.isEmpty {
          values.append(BeforeValue(property: relationship.name, content: .members(lost: lost, got: got)))
        }
      }
      if relationship.isOrdered, Self.isReordered(former, present) {
        values.append(BeforeValue(property: relationship.name, content: .order(former)))
      }
    }
    return values
  }

  /// Whether what both lists have is in another order, or stood before something else.
  private static func isReordered(_ former: [ManagedObjectID], _ present: [ManagedObjectID]) -> Bool {
    former != Array(present.prefix(former.count))
  }

  /// What an object that is to be inserted has in sets whose other ends don't record it.
  static func ofInsertion(_ object: ManagedObject) -> [BeforeValue] {
    var values: [BeforeValue] = []
    for relationship in object.entity.relationships where relationship.isManyToMany && !relationship.isUnstored {
      let members = object.slots[relationship.slot].relatedIDs
      if members.isEmpty { continue }
      values.append(BeforeValue(property: relationship.name, content: .members(lost: [], got: members)))
    }
    return values
  }

  /// Everything that is stored of an object that is to be deleted; also what is null, or as the model presets it, which a later
  /// version of the model may preset otherwise.
  static func ofDeletion(_ object: ManagedObject) -> [BeforeValue] {
    for relationship in object.entity.relationships
    where !relationship.isUnstored && (relationship.isManyToMany || relationship.isOrdered) {
      // Read while the store still has it.
      object.resolved(relationship)
    }
    let old = object.committed
    guard !old.isEmpty else { return [] }
    var values: [BeforeValue] = []
    for attribute in object.entity.attributes where !attribute.isTransient && !attribute.isDerived {
      values.append(BeforeValue(property: attribute.name, content: .value(old[attribute.slot])))
    }
    for relationship in object.entity.relationships where !relationship.isUnstored {
      let before = old[relationship.slot]
      if !relationship.isToMany {
        if !before.isNull { values.append(BeforeValue(property: relationship.name, content: .value(before))) }
        continue
      }
      let members = before.relatedIDs
      if members.isEmpty { continue }
      if relationship.isManyToMany {
        values.append(BeforeValue(property: relationship.name, content: .members(lost: members, got: [])))
      }
      if relationship.isOrdered { values.append(BeforeValue(property: relationship.name, content: .order(members))) }
    }
    return values
  }
}

/// Writes the former values of rows, one list for each row, in few bytes: a name is written once.
struct BeforeImages {
  private enum Tag: UInt8 {
    case null, no, yes, int, double, decimal, string, date, data, uuid, uri, object, members, order, masked
  }

  private var bytes = CompactBytes()
  private var names: [String: UInt64] = [:]
  private(set) var count = 0

  var size: Int { bytes.count }
  var data: Data { Data(bytes.bytes) }

  mutating func append(_ values: [BeforeValue]) {
    count += 1
    bytes.append(UInt64(values.count))
    for value in values {
      append(name: value.property)
      switch value.content {
      case .value(let value): append(value)
      case .members(let lost, let got):
        append(tag: .members)
        append(lost)
        append(got)
      case .order(let ids):
        append(tag: .order)
        append(ids)
      case .masked, .gone: append(tag: .masked)
      }
    }
  }

  private mutating func append(tag: Tag) { bytes.append(UInt64(tag.rawValue)) }

  private mutating func append(name: String) {
    if let known = names[name] { return bytes.append(known) }
    let number = UInt64(names.count)
    names[name] = number
    bytes.append(number)
    bytes.append(counted: name.utf8)
  }

  private mutating func append(_ ids: [ManagedObjectID]) {
    bytes.append(UInt64(ids.count))
    for id in ids { append(id) }
  }

  private mutating func append(_ id: ManagedObjectID) {
    append(name: id.entity.name)
    bytes.append(signed: id.number)
  }

  private mutating func append(_ value: Value) {
    switch value {
    case .null, .unresolved, .objects, .orderedObjects, .composite: append(tag: .null)
    case .bool(let flag): append(tag: flag ? .yes : .no)
    case .int(let number):
      append(tag: .int)
      bytes.append(signed: number)
    case .double(let number):
      append(tag: .double)
      bytes.append(fixed: number.bitPattern)
    case .decimal(let number):
      append(tag: .decimal)
      bytes.append(counted: number.description.utf8)
    case .string(let text):
      append(tag: .string)
      bytes.append(counted: text.utf8)
    case .date(let date):
      append(tag: .date)
      bytes.append(fixed: date.timeIntervalSinceReferenceDate.bitPattern)
    case .data(let data):
      append(tag: .data)
      bytes.append(counted: data)
    case .uuid(let uuid):
      append(tag: .uuid)
      bytes.append(counted: uuid.uuidString.utf8)
    case .uri(let uri):
      append(tag: .uri)
      bytes.append(counted: uri.absoluteString.utf8)
    case .object(let id):
      append(tag: .object)
      append(id)
    }
  }

  /// Reads what was appended.
  static func read(_ data: Data, _ coordinator: PersistentStoreCoordinator) throws -> [[BeforeValue]] {
    var reader = Reader(bytes: CompactReader(data), coordinator: coordinator)
    var images: [[BeforeValue]] = []
    while !reader.bytes.isAtEnd { images.append(try reader.values()) }
    return images
  }

  private struct Reader {
    var bytes: CompactReader
    let coordinator: PersistentStoreCoordinator
    private var names: [String] = []

    init(bytes: CompactReader, coordinator: PersistentStoreCoordinator) {
      self.bytes = bytes
      self.coordinator = coordinator
    }

    mutating func values() throws -> [BeforeValue] {
      try (0..<(try bytes.count())).map { _ in BeforeValue(property: try name(), content: try content()) }
    }

    private mutating func name() throws -> String {
      let number = Int(truncatingIfNeeded: try bytes.number())
      if number == names.count { names.append(try bytes.text()) }
      guard names.indices.contains(number) else { throw LineageError.damaged }
      return names[number]
    }

    /// An object's ID; nil with the entity's name if the model doesn't have the entity any more.
    private mutating func id() throws -> (id: ManagedObjectID?, entity: String) {
      let entity = try name()
      let number = try bytes.signed()
      guard coordinator.model.entitiesByName[entity] != nil else { return (nil, entity) }
      return (try coordinator.managedObjectID(entity: entity, number: number), entity)
    }

    private mutating func ids() throws -> [ManagedObjectID] {
      try (0..<(try bytes.count())).compactMap { _ in try id().id }
    }

    private mutating func reference() throws -> BeforeValue.Content {
      let (id, entity) = try id()
      return id.map { .value(.object($0)) } ?? .gone(entity: entity)
    }

    private mutating func content() throws -> BeforeValue.Content {
      guard let tag = Tag(rawValue: try bytes.byte()) else { throw LineageError.damaged }
      switch tag {
      case .members: return .members(lost: try ids(), got: try ids())
      case .order: return .order(try ids())
      case .null: return .value(.null)
      case .no: return .value(.bool(false))
      case .yes: return .value(.bool(true))
      case .int: return .value(.int(try bytes.signed()))
      case .double: return .value(.double(Double(bitPattern: try bytes.fixed64())))
      case .decimal: return .value(.decimal(try known(Decimal(string: try bytes.text()))))
      case .string: return .value(.string(try bytes.text()))
      case .date:
        return .value(.date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try bytes.fixed64()))))
      case .data: return .value(.data(Data(try bytes.counted())))
      case .uuid: return .value(.uuid(try known(UUID(uuidString: try bytes.text()))))
      case .uri: return .value(.uri(try known(URL(string: try bytes.text()))))
      case .object: return try reference()
      case .masked: return .masked
      }
    }

    private func known<T>(_ value: T?) throws -> T {
      guard let value else { throw LineageError.damaged }
      return value
    }
  }
}
