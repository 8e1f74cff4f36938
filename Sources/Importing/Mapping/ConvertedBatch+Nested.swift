import ManagedObjects

// Cells that hold objects and arrays: of composite and transformable attributes, of attributes whose key path leads into
// them, and of relationships.
extension ConvertedBatch {
  /// What a record gives for a relationship as nested objects, and the link that came of it.
  struct Nested {
    let value: NestedValue
    let link: NestedLink
  }

  /// The nested value of a cell; a plain one when the cell isn't nested, nil when it is missing.
  private func nested(_ cell: Cell) -> NestedValue? {
    switch cell.kind {
    case .missing: nil
    case .null, .empty: .null
    case .yes: .yes
    case .no: .no
    case .number: .number(source.string(cell))
    case .text: .text(source.string(cell))
    case .nested: source.withBytes(of: cell) { NestedValue(json: $0) } ?? .null
    }
  }

  /// Sets the attributes that are parts of nested cells. Returns why the record is rejected, if it is.
  /// - Parameter isLost: set when a filter can't be asked any more, as it asks for what couldn't be set.
  func setParts(_ record: Int, _ values: inout ContiguousArray<Value>, _ isLost: inout Bool) -> Rejection? {
    var failure: Rejection?
    for group in mapping.parts {
      guard let whole = nested(source.cell(record, group.column)) else { continue }
      if whole != .null, !whole.isNested, group.isOfObject {
        failure =
          failure
          ?? source.rejection(
            record, column: mapping.columns[group.column], code: ConversionCode.wrongKind.rawValue,
            message: "\(mapping.columns[group.column]): “\(whole.shown)” is no object")
        isLost = isLost || group.parts.contains { filter?.reads($0.attribute.slot) ?? true }
        if isLost { return failure }
        continue
      }
      for part in group.parts {
        switch part.converter.value(whole.value(along: part.path[...]) ?? .null, of: part.attribute) {
        case .success(.null) where mapping.rules.hasDefault(part.attribute): break  // keeps it
        case .success(let value): values[part.attribute.slot] = value
        case .failure(let problem):
          failure =
            failure
            ?? source.rejection(record, column: part.attribute.name, code: problem.code, message: problem.message)
          isLost = filter?.reads(part.attribute.slot) ?? true
          if isLost { return failure }
        }
      }
    }
    return failure
  }

  /// What a record gives for relationships as objects. What it gives as keys has been taken already.
  func nest(_ record: Int, into nested: inout [Nested]) -> Rejection? {
    let conversion = NestedConversion(mappings: mapping.nestedMappings)
    for place in mapping.nesting {
      let cell = source.cell(record, place.column)
      if cell.kind == .missing || (place.end.key != nil && !hasObject(cell)) { continue }
      let name = place.end.relationship.name
      let value = self.nested(cell) ?? .null
      do throws(NestedConversion.Problem) {
        nested.append(Nested(value: value, link: try conversion.link(value, place.end, at: name)))
      } catch {
        return source.rejection(record, column: error.path, code: error.code, message: error.message)
      }
    }
    return nil
  }

  /// Whether a cell holds an object: such a cell isn't one of keys.
  func hasObject(_ cell: Cell) -> Bool { cell.kind == .nested && source.withBytes(of: cell, Self.hasObject) }

  /// Whether there is a brace in a piece of JSON, outside of its strings.
  private static func hasObject(_ json: UnsafeRawBufferPointer) -> Bool {
    guard json.contains(UInt8(ascii: "{")) else { return false }
    var isInString = false
    var index = 0
    while index < json.count {
      switch json[index] {
      case JSONToken.quote: isInString.toggle()
      case JSONToken.backslash: index += 1
      case UInt8(ascii: "{") where !isInString: return true
      default: break
      }
      index += 1
    }
    return false
  }
}
