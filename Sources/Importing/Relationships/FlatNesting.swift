// Nested objects as rows in flat memory, for the usual shape: a record has to-many relationships, each to objects of an entity
// that one uniqueness constraint identifies, and these have attributes only. Anything else is left to `NestedApplier`, for the
// whole batch: what can't be settled here is rejected, found or created there, with its messages.

import ManagedObjects

/// A to-many relationship whose nested objects can become rows without an object for each.
struct FlatNesting {
  /// An attribute of the nested objects, by its key in JSON.
  private struct Attribute {
    let name: [UInt8]
    let slot: Int
    let converter: ValueConverter
    /// Whether null means the model's default.
    let hasDefault: Bool
  }

  /// The column that holds the objects.
  let column: Int
  let relationship: RelationshipDescription
  /// Where a nested object keeps what it belongs to.
  let inverse: RelationshipDescription
  /// The slots by which nested objects are identified.
  let key: [Int]
  private let attributes: [Attribute]
  /// Keys in JSON of what only objects can have.
  private let others: [[UInt8]]

  var entity: EntityDescription { relationship.destinationEntity }

  /// The slots that tell whether an object of the store is as the file has it.
  var comparedSlots: [Int] { (attributes.map(\.slot) + [inverse.slot]).sorted() }

  /// nil when objects have to be made.
  init?(_ place: NestedRelationship, of owner: EntityDescription, _ mappings: NestedMappings) {
    let relationship = place.end.relationship
    let entity = relationship.destinationEntity
    guard relationship.isToMany, !relationship.isOrdered, !relationship.isManyToMany, !relationship.isUnstored,
      let inverse = relationship.inverseRelationship, entity.rootEntity !== owner.rootEntity,
      entity.superentity == nil, entity.subentities.isEmpty, !entity.isAbstract, !entity.hasOwnClass,
      entity.validationRules.hasNoSets, entity.attributes.count <= UInt64.bitWidth,
      entity.uniquenessConstraints.count == 1, let constraint = entity.uniquenessConstraints.first
    else { return nil }
    let mapping = mappings[entity]
    var attributes: [Attribute] = []
    var others: [[UInt8]] = []
    for attribute in mapping.attributes {
      guard attribute.paths.count == 1, let path = attribute.paths.first, path.count == 1 else { return nil }
      guard case .plain(let converter) = attribute.converter else {
        others.append(Array(path[0].utf8))
        continue
      }
      let slot = attribute.attribute.slot
      attributes.append(
        Attribute(
          name: Array(path[0].utf8), slot: slot, converter: converter,
          hasDefault: !attribute.attribute.isOptional && !entity.initialValues[slot].isNull))
    }
    for relationship in mapping.relationships {
      guard relationship.paths.count == 1, let path = relationship.paths.first, path.count == 1 else { return nil }
      others.append(Array(path[0].utf8))
    }
    let names = attributes.map(\.name) + others
    guard Set(names).count == names.count else { return nil }
    column = place.column
    self.relationship = relationship
    self.inverse = inverse
    key = constraint.map(\.slot)
    self.attributes = attributes
    self.others = others
  }

  /// The flat shapes of a mapping's nested columns; nil if records may have nested objects that need to be objects.
  static func all(
    _ nesting: [NestedRelationship], of owner: EntityDescription, _ mappings: NestedMappings,
    _ references: [ReferenceMapping], _ collections: [ReferenceMapping]
  ) -> [FlatNesting]? {
    var shapes: [FlatNesting] = []
    for place in nesting {
      let relationship = place.end.relationship
      // An object in place of a key is found when the key is read.
      if !relationship.isToMany, references.contains(where: { $0.relationship === relationship }) { continue }
      guard let shape = FlatNesting(place, of: owner, mappings),
        !shapes.contains(where: { $0.entity === shape.entity })
      else { return nil }
      shapes.append(shape)
    }
    // Keys alone are read for the same columns.
    let hasOnlyThese = collections.allSatisfy { collection in
      shapes.contains { $0.relationship === collection.relationship && $0.column == collection.column }
    }
    return hasOnlyThese ? shapes : nil
  }

  // MARK: Reading

  /// The number of braces in a cell, which is at least that of its objects.
  static func braces(in json: UnsafeRawBufferPointer) -> Int {
    var count = 0
    for byte in json { count &+= byte == UInt8(ascii: "{") ? 1 : 0 }
    return count
  }

  /// The number of objects in a cell: of braces outside texts. Slower than counting all of them.
  static func objects(in json: UnsafeRawBufferPointer) -> Int {
    var count = 0
    var isInText = false
    var isEscaped = false
    for byte in json {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isInText.toggle()
      } else if isInText {
        isEscaped = byte == UInt8(ascii: "\\")
      } else if byte == UInt8(ascii: "{") {
        count += 1
      }
    }
    return count
  }

  /// Reads the objects of a cell into rows. The reader has checked the JSON.
  /// - Returns: false if there is anything for which objects have to be made. The rows are of no use then.
  func read(_ json: UnsafeRawBufferPointer, into rows: NewRows, _ buffer: inout [UInt8]) -> Bool {
    guard let start = json.bindMemory(to: UInt8.self).baseAddress else { return false }
    let end = start + json.count
    var place = JSONToken.skipSpace(start, end)
    guard place < end, place.pointee == UInt8(ascii: "[") else { return false }
    place = JSONToken.skipSpace(place + 1, end)
    if place < end, place.pointee == UInt8(ascii: "]") { return true }
    while place < end {
      guard let next = object(place, end, into: rows, &buffer) else { return false }
      place = JSONToken.skipSpace(next, end)
      guard place < end else { return false }
      if place.pointee == UInt8(ascii: "]") { return true }
      guard place.pointee == UInt8(ascii: ",") else { return false }
      place = JSONToken.skipSpace(place + 1, end)
    }
    return false
  }

  /// Reads the object at `start` into a row. Returns the place after it; nil if it has to be an object.
  private func object(
    _ start: BytePointer, _ end: BytePointer, into rows: NewRows, _ buffer: inout [UInt8]
  ) -> BytePointer? {
    guard start.pointee == UInt8(ascii: "{") else { return nil }
    rows.beginRow()
    var given: UInt64 = 0
    var place = JSONToken.skipSpace(start + 1, end)
    var isAtEnd = place < end && place.pointee == UInt8(ascii: "}")
    while !isAtEnd {
      guard place < end, place.pointee == JSONToken.quote else { return nil }
      var isEscaped = false
      guard case .end(let afterName) = JSONToken.string(place + 1, end, escaped: &isEscaped), !isEscaped else {
        return nil
      }
      let name = UnsafeBufferPointer(start: place + 1, count: afterName - place - 2)
      place = JSONToken.skipSpace(afterName, end)
      guard place < end, place.pointee == UInt8(ascii: ":") else { return nil }
      place = JSONToken.skipSpace(place + 1, end)
      guard place < end, let next = value(place, end, of: name, into: rows, &given, &buffer) else { return nil }
      place = JSONToken.skipSpace(next, end)
      guard place < end else { return nil }
      isAtEnd = place.pointee == UInt8(ascii: "}")
      guard isAtEnd || place.pointee == UInt8(ascii: ",") else { return nil }
      if !isAtEnd { place = JSONToken.skipSpace(place + 1, end) }
    }
    return finish(rows, given) ? place + 1 : nil
  }

  /// Ends a row; false if it isn't identified by its key, or isn't valid.
  private func finish(_ rows: NewRows, _ given: UInt64) -> Bool {
    for slot in key {
      guard let index = attributes.firstIndex(where: { $0.slot == slot }), given & 1 << UInt64(index) != 0,
        rows.cell(rows.count, slot).kind != .null
      else { return false }
    }
    rows.setReference(inverse.slot)
    var failures: [ValidationFailure] = []
    entity.validationRules.check(rowBegunIn: rows, into: &failures)
    guard failures.isEmpty else { return false }
    rows.endRow()
    return true
  }

  /// Reads a value. Returns the place after it; nil if it needs an object, or can't be converted.
  private func value(
    _ start: BytePointer, _ end: BytePointer, of name: UnsafeBufferPointer<UInt8>, into rows: NewRows,
    _ given: inout UInt64, _ buffer: inout [UInt8]
  ) -> BytePointer? {
    guard let index = attributes.firstIndex(where: { Self.isSame($0.name, name) }) else {
      return others.contains { Self.isSame($0, name) } ? nil : Self.skip(start, end)
    }
    let attribute = attributes[index]
    // Where keys repeat, the last counts.
    guard given & 1 << UInt64(index) == 0 else { return nil }
    given |= 1 << UInt64(index)
    var isEscaped = false
    let (kind, scan) = JSONToken.scalar(start, end, final: true, escaped: &isEscaped)
    guard case .end(let next) = scan else { return nil }
    let isText = kind == .text
    var bytes = UnsafeRawBufferPointer(
      start: isText ? start + 1 : start, count: isText ? next - start - 2 : next - start)
    let cell = Cell(kind: kind, offset: 0, length: UInt32(truncatingIfNeeded: bytes.count))
    do throws(ConversionCode) {
      if isEscaped {
        if buffer.count < bytes.count { buffer = [UInt8](repeating: 0, count: 2 * bytes.count) }
        let source = bytes.bindMemory(to: UInt8.self)
        let result = buffer.withUnsafeMutableBufferPointer { buffer -> Bool in
          guard let target = buffer.baseAddress else { return false }
          bytes = UnsafeRawBufferPointer(start: target, count: JSONString.unescape(source, to: target))
          do throws(ConversionCode) {
            try attribute.converter.convert(cell, bytes, into: rows, attribute.slot, keepsNull: attribute.hasDefault)
            return true
          } catch {
            return false
          }
        }
        return result ? next : nil
      }
      try attribute.converter.convert(cell, bytes, into: rows, attribute.slot, keepsNull: attribute.hasDefault)
      return next
    } catch {
      // The objects' conversion says why.
      return nil
    }
  }

  @inline(__always)
  private static func isSame(_ name: [UInt8], _ other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard name.count == other.count else { return false }
    return name.withUnsafeBufferPointer { name in
      for place in name.indices where name[place] != other[place] { return false }
      return true
    }
  }

  /// The place after a value that nothing takes; nil if there is none.
  private static func skip(_ start: BytePointer, _ end: BytePointer) -> BytePointer? {
    var isEscaped = false
    var place = start
    var depth = 0
    repeat {
      guard place < end else { return nil }
      switch place.pointee {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        place += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        place += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"): place += 1
      case let byte where JSONToken.isSpace(byte): place += 1
      default:
        guard case .end(let next) = JSONToken.scalar(place, end, final: true, escaped: &isEscaped).1 else { return nil }
        place = next
      }
    } while depth > 0
    return place
  }
}

/// The nested objects of a batch's flat rows, for one relationship.
struct FlatNestedRows {
  let shape: FlatNesting
  let rows: NewRows
  /// The place after each row's nested objects.
  private var ends: [Int32] = []
  /// Whether every record says which nested objects it has.
  private(set) var areGivenByAll = true
  /// The rows in the order of their keys.
  private(set) var order: [Int32] = []
  /// Where escaped texts are decoded.
  private var buffer: [UInt8] = []

  /// Above this many braces, those in texts are told from the others.
  private static let manyBraces = 100_000
  /// Above this many objects, no rows are made.
  private static let mostObjects = 1_000_000

  /// Room for the objects of all records of a batch; nil if there are so many that their rows could fill the memory.
  init?(_ shape: FlatNesting, in source: RecordBatch, of coordinator: PersistentStoreCoordinator) {
    self.shape = shape
    func sum(_ count: (UnsafeRawBufferPointer) -> Int) -> Int {
      var sum = 0
      for record in 0..<source.count {
        let cell = source.cell(record, shape.column)
        if cell.kind == .nested { sum += count(source.bytes(of: cell)) }
      }
      return sum
    }
    let bytes = sum(\.count)
    var most = sum(FlatNesting.braces)
    if most > Self.manyBraces {
      most = sum(FlatNesting.objects)
      guard most <= Self.mostObjects else { return nil }
    }
    rows = NewRows(
      shape.entity, of: coordinator, capacity: most, textCapacity: bytes, initial: shape.entity.initialValues)
    ends.reserveCapacity(source.count)
  }

  /// Reads the objects of a record, whose row is the next.
  /// - Returns: false if there is anything for which objects have to be made.
  mutating func read(_ record: Int, in source: RecordBatch) -> Bool {
    let cell = source.cell(record, shape.column)
    switch cell.kind {
    case .missing, .null, .empty: areGivenByAll = false
    case .nested: guard shape.read(source.bytes(of: cell), into: rows, &buffer) else { return false }
    case .text, .number, .yes, .no, .quantity, .date, .fault: return false
    }
    ends.append(Int32(truncatingIfNeeded: rows.count))
    return true
  }

  /// Prepares the look-up of the keys; false if two objects have the same.
  mutating func sort() -> Bool {
    guard let order = rows.order(by: shape.key) else { return false }
    self.order = order
    return true
  }

  /// The record's row that each object belongs to.
  var owners: [Int] {
    var owners: [Int] = []
    owners.reserveCapacity(rows.count)
    for row in ends.indices { while owners.count < Int(ends[row]) { owners.append(row) } }
    return owners
  }

  /// Points the objects to what they belong to, given by the IDs of the records' rows.
  func point(to owners: [ManagedObjectID]) {
    var next = 0
    for row in ends.indices {
      let end = Int(ends[row])
      while next < end {
        rows.point(next, shape.inverse.slot, to: owners[row])
        next += 1
      }
    }
  }
}
