import ManagedObjects

/// Masks the cells of batches before anything else looks at them: the filter, the conversion, and what writes rejects see masks
/// only. Made for the columns of a source.
struct RecordMasking: Sendable {
  /// What is masked in a column.
  private struct Column: Sendable {
    let column: Int
    /// The mask of a text.
    var mask: CellMask?
    /// The masks of values at the end of paths of keys within a nested value.
    var parts: [(path: [String], mask: CellMask)] = []
    /// The paths of those and of other values within it that a property takes.
    var paths: [[String]] = []
    /// What nested values become.
    var entity: EntityDescription?
  }

  private let columns: [Column]
  private let entities: EntityMasks
  /// The columns that a property takes without a mask.
  private let clear: Set<Int>

  /// Nil if nothing is masked.
  init?(_ mapping: RecordMapping, taken: Set<Int>, _ keys: MaskKeys) throws(MaskingError) {
    let rules = mapping.rules
    var found: [Int: Column] = [:]
    let entities = EntityMasks(rules, mapping.nestedMappings, keys)

    func add(_ mask: CellMask, to column: Int) { found[column, default: Column(column: column)].mask = mask }

    for target in mapping.attributes {
      guard let mask = rules.masks[target.slot] else { continue }
      let attribute = target.converter.attribute
      add(try Self.cellMask(mask, attribute, rules, of: attribute.name, keys), to: target.column)
    }
    for reference in mapping.references + mapping.collections {
      for part in reference.parts {
        let attribute = part.converter.attribute
        guard let mask = MaskPlan.modelMask(of: attribute) else { continue }
        add(try Self.cellMask(mask, attribute, rules, of: reference.relationship.name, keys), to: part.column)
      }
      guard let column = reference.column, let mask = rules.masks[reference.relationship.slot] else { continue }
      let attribute = reference.converter.attribute
      add(
        try Self.cellMask(
          mask, attribute, rules, of: reference.relationship.name, separator: reference.separator, keys), to: column)
    }
    for group in mapping.parts {
      for part in group.parts {
        guard let mask = rules.masks[part.attribute.slot] else { continue }
        let cell = try Self.cellMask(mask, part.attribute, rules, of: part.attribute.name, keys)
        if part.path.isEmpty {
          add(cell, to: group.column)
        } else {
          found[group.column, default: Column(column: group.column)].parts.append((part.path, cell))
        }
      }
      found[group.column]?.paths = group.parts.map(\.path)
    }
    for nested in mapping.nesting {
      let entity = nested.end.relationship.destinationEntity
      guard entities.concern(entity) else { continue }
      found[nested.column, default: Column(column: nested.column)].entity = entity
    }
    if found.isEmpty, !rules.isMasking { return nil }
    self.entities = entities
    columns = found.values.sorted { $0.column < $1.column }
    clear = taken.subtracting(columns.map(\.column))
  }

  private static func cellMask(
    _ mask: ValueMask, _ attribute: AttributeDescription, _ rules: MappingRules, of property: String,
    separator: String? = nil, _ keys: MaskKeys
  ) throws(MaskingError) -> CellMask {
    let rule = rules.options.properties[property]
    return try CellMask(
      mask, isText: attribute.type == .string, trims: rule?.trims ?? rules.options.trims,
      nulls: rule?.nulls ?? rules.options.nulls, separator: separator, keys)
  }

  // MARK: Masking

  /// Masks the records of a batch, which writes its rejects in a form from now on.
  func mask(_ batch: RecordBatch, _ form: any RejectForm) throws {
    for record in 0..<batch.count {
      for column in columns {
        let cell = batch.cell(record, column.column)
        if cell.kind == .missing { continue }
        do {
          let (kind, text) = try changed(cell, of: batch, column, .mask)
          batch.replace(column.column, of: record, by: text, kind)
        } catch is MaskWork.Foreign {
          batch.setProblem(.maskedOtherwise(column: batch.columns[column.column]), of: record)
        }
      }
    }
    batch.cover = RejectCover(masking: self, form: form)
  }

  /// Refuses the records of a retry that have, where a property takes the value as it is, what the reject file has in place of
  /// values that nothing took: the value itself is only in the source.
  func refuseCovered(_ batch: RecordBatch) {
    let redaction = Array(ValueMask.redaction.utf8)
    for record in 0..<batch.count where batch.problem(record) == nil {
      if let column = clear.first(where: { batch.bytes(of: batch.cell(record, $0)).elementsEqual(redaction) })
        ?? columns.first(where: { hasCovered(batch.cell(record, $0.column), of: batch, $0) })?.column
      {
        batch.setProblem(.maskedOtherwise(column: batch.columns[column]), of: record)
      }
    }
  }

  private func hasCovered(_ cell: Cell, of batch: RecordBatch, _ column: Column) -> Bool {
    guard cell.kind == .nested else {
      return column.mask == nil && batch.bytes(of: cell).elementsEqual(ValueMask.redaction.utf8)
    }
    guard let value = NestedValue(json: batch.bytes(of: cell)) else { return false }
    if let entity = column.entity { return entities.hasCovered(value, of: entity) }
    let masked = column.parts.map(\.path)
    return column.paths.contains { !masked.contains($0) && value.isCovered(at: $0) }
  }

  /// Whether a column isn't written as it was.
  func covers(_ column: Int) -> Bool { !clear.contains(column) }

  /// The cell of a record as a reject file may have it.
  func covered(_ cell: Cell, in column: Int, of batch: RecordBatch) -> (kind: Cell.Kind, text: [UInt8]) {
    let text = Array(batch.bytes(of: cell))
    if clear.contains(column) { return (cell.kind, text) }
    guard let known = columns.first(where: { $0.column == column }) else {
      // Nothing takes it, so nothing is known about it.
      switch cell.kind {
      case .missing, .null, .empty: return (cell.kind, [])
      default: return (.text, Array(ValueMask.redaction.utf8))
      }
    }
    do {
      return try changed(cell, of: batch, known, .seal)
    } catch {
      return (.text, Array(ValueMask.redaction.utf8))
    }
  }

  private func changed(
    _ cell: Cell, of batch: RecordBatch, _ column: Column, _ work: MaskWork
  ) throws -> (kind: Cell.Kind, text: [UInt8]) {
    let bytes = batch.bytes(of: cell)
    switch cell.kind {
    case .missing, .null, .empty: return (cell.kind, Array(bytes))
    case .nested: return try changed(NestedValue(json: bytes) ?? .null, column, work)
    case .fault:
      guard column.mask != nil else { return (cell.kind, Array(bytes)) }
      // An error or a formula, which a recipe may call null.
      if work == .mask, let mask = column.mask, case .null = mask.masked(bytes) { return (.null, []) }
      return (.fault, bytes.prefix(1) + Array(ValueMask.redaction.utf8))
    case .yes, .no, .text, .number, .quantity, .date:
      guard let mask = column.mask else {
        // In place of an object, whose parts are masked.
        return column.parts.isEmpty ? (cell.kind, Array(bytes)) : (.text, Array(ValueMask.redaction.utf8))
      }
      let value: [UInt8] =
        switch cell.kind {
        case .yes: Array("true".utf8)
        case .no: Array("false".utf8)
        default: Array(bytes)
        }
      if work == .seal { return (.text, mask.sealed(value)) }
      switch value.withUnsafeBytes({ mask.masked($0) }) {
      case .text(let text): return (.text, text)
      case .null: return (.null, [])
      case .foreign: throw MaskWork.Foreign()
      }
    }
  }

  private func changed(
    _ value: NestedValue, _ column: Column, _ work: MaskWork
  ) throws -> (kind: Cell.Kind, text: [UInt8]) {
    var value = value
    if let entity = column.entity {
      value = try entities.apply(work, to: value, of: entity, ofKey: column.mask)
    } else if let mask = column.mask {
      value = mask.isOfTexts ? try work.value(value, by: mask) : .null
    }
    for (path, mask) in column.parts { try value.change(at: path[...]) { try work.value($0, by: mask) } }
    if work == .seal, !column.parts.isEmpty { value.cover(besides: column.paths) }
    switch value {
    case .null: return (.null, [])
    case .text(let text): return (.text, Array(text.utf8))
    case .yes, .no, .number, .array, .object: return (.nested, Array(value.data))
    }
  }
}

/// How a batch writes its rejected records, if some of its values are masked.
struct RejectCover {
  let masking: RecordMasking
  let form: any RejectForm

  /// The record for the reject file, and whether it is one there. Nothing is known about the parts of a record that can't be
  /// read, nor is there always room for a mask; then only the record's place is written.
  func bytes(_ record: Int, of batch: RecordBatch) -> (bytes: [UInt8], isRecord: Bool) {
    if batch.problem(record) == nil, let bytes = form.covered(CoveredRecord(record, of: batch, masking)) {
      return (bytes, true)
    }
    let place = "line \(batch.line(record)), byte \(batch.byteOffset(record))"
    return (Array("masked: take this record from its source (\(place))".utf8), false)
  }
}
