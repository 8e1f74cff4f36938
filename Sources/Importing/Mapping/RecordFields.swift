import ManagedObjects

/// Reads what the records of a batch say, as a mapping understands their cells.
struct RecordFields {
  let source: RecordBatch
  let mapping: RecordMapping

  init(_ source: RecordBatch, _ mapping: RecordMapping) {
    self.source = source
    self.mapping = mapping
  }

  /// Why what a record says for a property can't be used.
  struct Problem: Error {
    let code: String
    let message: String
  }

  // MARK: Attributes

  /// The value of a cell.
  func value(_ cell: Cell, _ converter: ValueConverter) -> Result<Value, ConversionCode> {
    switch cell.kind {
    case .text:
      return source.withBytes(of: cell) { bytes in
        Self.attempt { () throws(ConversionCode) in try converter.convert(text: bytes) }
      }
    case .number:
      return source.withBytes(of: cell) { bytes in
        Self.attempt { () throws(ConversionCode) in try converter.convert(number: bytes) }
      }
    case .quantity:
      return source.withBytes(of: cell) { bytes in
        Self.attempt { () throws(ConversionCode) in try converter.convert(quantity: bytes) }
      }
    case .date:
      return source.withBytes(of: cell) { bytes in
        Self.attempt { () throws(ConversionCode) in try converter.convert(date: bytes) }
      }
    case .fault:
      return source.withBytes(of: cell) { bytes in
        Self.attempt { () throws(ConversionCode) in try converter.convert(fault: bytes) }
      }
    case .yes: return Self.attempt { () throws(ConversionCode) in try converter.convert(bool: true) }
    case .no: return Self.attempt { () throws(ConversionCode) in try converter.convert(bool: false) }
    case .empty, .null, .missing: return .success(.null)
    case .nested:
      return source.withBytes(of: cell) { bytes in
        Self.attempt { () throws(ConversionCode) in try converter.convert(nested: bytes) }
      }
    }
  }

  @inline(__always)
  private static func attempt(_ conversion: () throws(ConversionCode) -> Value) -> Result<Value, ConversionCode> {
    do throws(ConversionCode) {
      return .success(try conversion())
    } catch {
      return .failure(error)
    }
  }

  /// Sets the attributes that are parts of nested cells. Returns why the record is rejected, if it is.
  ///
  /// - Parameters:
  ///   - filter: the recipe's filter, if there is one.
  ///   - isLost: set when the filter reads what couldn't be set, so that it can't be asked any more.
  ///   - leavingOut: gets the attributes whose values are left out because they don't fit.
  func setParts(
    _ record: Int, _ values: inout ContiguousArray<Value>, _ filter: RecordFilter?, _ isLost: inout Bool,
    leavingOut: inout [String]
  ) -> Rejection? {
    var failure: Rejection?
    for group in mapping.parts {
      guard let whole = nested(source.cell(record, group.column)) else { continue }
      if whole != .null, !whole.isNested, group.isOfObject {
        failure =
          failure
          ?? source.rejection(
            record, column: mapping.columns[group.column], code: ConversionCode.wrongKind.rawValue,
            message: "\(mapping.columns[group.column]): “\(whole.shown)” isn't an object")
        isLost = isLost || group.parts.contains { filter?.reads($0.attribute.slot) ?? true }
        if isLost { return failure }
        continue
      }
      for part in group.parts {
        switch part.converter.value(whole.value(along: part.path[...]) ?? .null, of: part.attribute) {
        case .success(.null) where mapping.rules.hasDefault(part.attribute): break  // keeps it
        case .success(let value): values[part.attribute.slot] = value
        case .failure(let problem)
        where ConversionCode(rawValue: problem.code)?.isOfType == true && mapping.rules.mayLackValue(part.attribute):
          if !mapping.rules.hasDefault(part.attribute) { values[part.attribute.slot] = .null }
          leavingOut.append(part.attribute.name)
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

  /// The rejection of a record that has a value in a column which the recipe refuses.
  func newValue(_ record: Int) -> Rejection? {
    for column in mapping.refusedColumns where hasValue(source.cell(record, column)) {
      let name = mapping.shown([mapping.columns[column]])[0]
      return source.rejection(
        record, column: name, code: "new_column",
        message: "\(SourceError.shown(name)): \(mapping.entity.name) has nothing for this column")
    }
    return nil
  }

  private func hasValue(_ cell: Cell) -> Bool {
    switch cell.kind {
    case .missing, .null, .empty: false
    case .text:
      cell.length > 0
        && source.withBytes(of: cell) { bytes in
          mapping.nullWords.map { !$0.contains(bytes) && !$0.contains(ValueConverter.trimmed(bytes)) } ?? true
        }
    default: true
    }
  }

  // MARK: Relationships

  /// The key that a record gives for a to-one relationship: `.null` for an empty one, `.unresolved` where it says nothing.
  func key(_ reference: ReferenceMapping, _ record: Int) -> Result<Value, Problem> {
    if let constant = reference.constant { return .success(constant) }
    if reference.key.isCompound { return compoundKey(reference, record) }
    if mapping.isAbsent(reference, record, in: source) { return .success(.unresolved) }
    if mapping.mayNest, let column = reference.column, hasObject(source.cell(record, column)) {
      return .success(.unresolved)
    }
    let converted: Result<Value, ConversionCode>
    let cell = mapping.keyCell(reference, record, in: source)
    var rendered: String?
    if let cell {
      converted = value(cell, reference.converter)
    } else if var text = mapping.renderedKey(reference, record, in: source) {
      rendered = text
      converted = text.withUTF8 { bytes in
        Self.attempt { () throws(ConversionCode) in try reference.converter.convert(text: UnsafeRawBufferPointer(bytes))
        }
      }
    } else {
      return .success(reference.defaultKey ?? .null)
    }
    switch converted {
    case .success(.null): return .success(reference.defaultKey ?? .null)
    case .success(let key): return .success(key)
    case .failure(let code):
      var text = rendered ?? cell.map(source.string) ?? ""
      let message = text.withUTF8 { reference.converter.problem(code, text: UnsafeRawBufferPointer($0)).description }
      return .failure(Problem(code: code.rawValue, message: message))
    }
  }

  /// The key of several attributes: `.unresolved` where the record lacks one of its columns.
  private func compoundKey(_ reference: ReferenceMapping, _ record: Int) -> Result<Value, Problem> {
    var values: [Value] = []
    for part in reference.parts {
      let cell = source.cell(record, part.column)
      if cell.kind == .missing { return .success(.unresolved) }
      switch value(cell, part.converter) {
      case .success(let value): values.append(value)
      case .failure(let code):
        let message = source.withBytes(of: cell) { part.converter.problem(code, text: $0).description }
        return .failure(Problem(code: code.rawValue, message: message))
      }
    }
    return .success(reference.key.key(values))
  }

  /// The keys that a record gives for a to-many relationship, in their order and each once; nil where it says nothing.
  func list(_ collection: ReferenceMapping, _ record: Int) -> Result<[Value]?, Problem> {
    guard let column = collection.column else { return .success(nil) }
    let cell = source.cell(record, column)
    var keys: [Value] = []
    var seen: Set<Value> = []
    func add(_ key: Result<Value, ConversionCode>, _ text: @autoclosure () -> String) -> Problem? {
      switch key {
      case .success(let key):
        if !key.isNull, seen.insert(key).inserted { keys.append(key) }
        return nil
      case .failure(let code):
        var text = text()
        let problem = text.withUTF8 { collection.converter.problem(code, text: UnsafeRawBufferPointer($0)) }
        return Problem(code: code.rawValue, message: problem.description)
      }
    }
    func convert(_ nested: NestedValue) -> Result<Value, ConversionCode> {
      Self.attempt { () throws(ConversionCode) in try collection.converter.convert(nested) }
    }
    var problem: Problem?
    switch cell.kind {
    case .missing: return .success(nil)
    case .null, .empty: break
    case .text:
      guard let separator = collection.separator else {
        problem = add(value(cell, collection.converter), source.string(cell))
        break
      }
      for var part in source.string(cell).split(separator: separator) where problem == nil {
        while part.first == " " { part.removeFirst() }
        while part.last == " " { part.removeLast() }
        problem = add(convert(.text(String(part))), String(part))
      }
    case .number, .yes, .no, .quantity, .date, .fault:
      problem = add(value(cell, collection.converter), source.string(cell))
    case .nested:
      if hasObject(cell) { return .success(nil) }
      let nested = source.withBytes(of: cell) { NestedValue(json: $0) } ?? .null
      for element in nested.elements where problem == nil { problem = add(convert(element), element.shown) }
    }
    return problem.map(Result.failure) ?? .success(keys)
  }

  /// Reads the nested objects that a record gives for relationships. Keys have been read already.
  func nest(_ record: Int, into nested: inout [ConvertedBatch.Nested]) -> Rejection? {
    let conversion = NestedConversion(mappings: mapping.nestedMappings)
    for place in mapping.nesting {
      let cell = source.cell(record, place.column)
      if cell.kind == .missing || (place.end.key != nil && !hasObject(cell)) { continue }
      let name = place.end.relationship.name
      let value = self.nested(cell) ?? .null
      do throws(NestedConversion.Problem) {
        nested.append(.init(value: value, link: try conversion.link(value, place.end, at: name)))
      } catch {
        return source.rejection(record, column: error.path, code: error.code, message: error.message)
      }
    }
    return nil
  }

  /// The nested value of a cell; nil when it is missing.
  private func nested(_ cell: Cell) -> NestedValue? {
    switch cell.kind {
    case .missing: nil
    case .null, .empty: .null
    case .yes: .yes
    case .no: .no
    case .number, .quantity: .number(source.string(cell))
    case .text, .date, .fault: .text(source.string(cell))
    case .nested: source.withBytes(of: cell) { NestedValue(json: $0) } ?? .null
    }
  }

  /// Whether a cell holds an object, and so isn't a cell of keys.
  private func hasObject(_ cell: Cell) -> Bool {
    cell.kind == .nested && source.withBytes(of: cell, JSONToken.containsObject)
  }

  // MARK: Rejected records

  /// The key of a record's object, even if the rest of the record can't be converted, and the place of its constraint; nil
  /// if the key can't be read.
  func uniqueKey(_ record: Int) -> (key: UniqueKey, place: Int)? {
    let place = mapping.identities.firstIndex { constraint in
      constraint.columns.allSatisfy { source.cell(record, $0).kind != .missing }
    }
    guard source.problem(record) == nil, let place else { return nil }
    var values: [Value] = []
    for attribute in mapping.constraints[place].attributes {
      let standard = mapping.rules.initialValues[attribute.slot]
      guard let target = mapping.attributes.first(where: { $0.slot == attribute.slot }) else {
        // The recipe gives it.
        values.append(standard)
        continue
      }
      guard case .success(let value) = self.value(source.cell(record, target.column), target.converter) else {
        return nil
      }
      values.append(value.isNull && target.hasDefault ? standard : value)
    }
    return (UniqueKey(values), place)
  }

  /// Whether a record of a reject file has nothing but the reason: it couldn't be kept as an object then, and isn't one now.
  func hasReasonOnly(_ record: Int, _ reason: Int) -> Bool {
    guard source.cell(record, reason).kind == .nested else { return false }
    return (0..<source.cellCount(record)).allSatisfy { $0 == reason || source.cell(record, $0).kind == .missing }
  }

  func rejection(_ record: Int, _ cell: Cell, _ converter: ValueConverter, _ code: ConversionCode) -> Rejection {
    let problem = source.withBytes(of: cell) { converter.problem(code, text: $0) }
    return source.rejection(
      record, column: problem.attribute, code: problem.code.rawValue, message: problem.description,
      place: source.column(of: cell, in: record))
  }

  func rejection(_ record: Int, _ reference: ReferenceMapping, _ problem: Problem) -> Rejection {
    source.rejection(record, column: reference.relationship.name, code: problem.code, message: problem.message)
  }
}

extension JSONToken {
  /// Whether there is a brace in a piece of JSON, outside its strings.
  fileprivate static func containsObject(_ json: UnsafeRawBufferPointer) -> Bool {
    guard json.contains(UInt8(ascii: "{")) else { return false }
    var isInString = false
    var index = 0
    while index < json.count {
      switch json[index] {
      case quote: isInString.toggle()
      case backslash: index += 1
      case UInt8(ascii: "{") where !isInString: return true
      default: break
      }
      index += 1
    }
    return false
  }
}
