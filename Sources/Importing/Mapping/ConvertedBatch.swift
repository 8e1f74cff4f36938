import ManagedObjects

/// A batch of records turned into rows: what the reading thread hands to the one that writes.
///
/// Handed over whole, from one thread to the other; the record batch behind it goes back to the reader afterwards.
final class ConvertedBatch: @unchecked Sendable {
  // Sendable: written by the reading thread before it is handed over, and read by the writing thread alone after.

  /// A record's row.
  struct Row {
    let record: Int
    var values: ContiguousArray<Value>
    /// The key of each reference of the mapping: `.null` where the record says that there is none, `.unresolved` where
    /// it says nothing.
    let keys: [Value]
    /// The keys of each to-many relationship of the mapping, each once; nil where the record says nothing.
    var lists: [[Value]?] = []
    /// What the record gives for relationships as objects.
    var nested: [Nested] = []
    /// Of a record that was set aside, what was kept of it: it isn't in the batch's source.
    var aside: AsideRow?
  }

  let source: RecordBatch
  let mapping: RecordMapping
  var rows: ContiguousArray<Row> = []
  /// The rows, where they refer to nothing and objects may not be needed for them.
  var newRows: NewRows?
  /// The records of these.
  var newRecords: [Int] = []
  /// The keys of these, for each reference of the mapping.
  var newKeys: [[Value]] = []
  /// Of a mode that finds objects, these rows in the order of their keys.
  var keyOrder: [Int32] = []
  /// Whether a row of these is one that only objects can settle.
  var needsObjects = false
  var rejections: [Rejection] = []
  /// Records that are passed over.
  var skipped: Int64 = 0
  /// What the rejected records are about; looked at only when somebody has to know.
  var rejectedKeys = RejectedKeys()
  private let notesRejected: Bool
  let mode: ImportOptions.Mode
  /// Bytes of the source read so far.
  let bytesRead: Int64
  /// Whether every row becomes a new object, and can be checked against the model before it is one.
  let isChecked: Bool
  let filter: RecordFilter?
  var failures: [ValidationFailure] = []

  init(source: RecordBatch, mapping: RecordMapping, mode: ImportOptions.Mode, bytesRead: Int64) {
    isChecked = mode == .insert && mapping.entity.validationRules.concernsAttributesOnly
    filter = mapping.rules.filter
    notesRejected = mode == .synchronise
    self.mode = mode
    self.source = source
    self.mapping = mapping
    self.bytesRead = bytesRead
  }

  /// Whether any record has become a row.
  var hasRows: Bool { newRows.map { $0.count > 0 } ?? !rows.isEmpty }

  /// Converts every record of objects to be of that coordinator: into a row, or into a rejection.
  func convert(for coordinator: PersistentStoreCoordinator) {
    // A filter and composites ask for values.
    let isDirect = filter == nil && mapping.parts.isEmpty
    let new = makeNewRows(for: coordinator, isDirect: isDirect)
    if new == nil { rows.reserveCapacity(source.count) }
    for record in 0..<source.count {
      if source.hasProblems, let problem = source.problem(record) {
        rejections.append(
          source.rejection(
            record, column: source.column(of: problem, record), code: problem.code, message: problem.description))
        if notesRejected { noteRejected(record) }
        continue
      }
      if let column = mapping.reasonColumn, isNotMended(record, column) {
        rejections.append(
          source.rejection(
            record, code: RejectReason.notMended, message: "the record says why it was rejected, and nothing else"))
        continue
      }
      if let new, isDirect { convert(record, into: new) } else { convert(record) }
    }
    orderByKey()
  }

  /// Whether a record of a reject file has nothing but the reason: it couldn't be kept as an object, and isn't one now.
  private func isNotMended(_ record: Int, _ reason: Int) -> Bool {
    guard source.cell(record, reason).kind == .nested else { return false }
    return (0..<source.cellCount(record)).allSatisfy { $0 == reason || source.cell(record, $0).kind == .missing }
  }

  private func convert(_ record: Int) {
    var values = mapping.rules.initialValues
    var failure: Rejection?
    // Whether nothing but rejection is left: a record that the filter passes over isn't rejected for what it didn't ask for.
    var isLost = false
    for target in mapping.attributes {
      let cell = source.cell(record, target.column)
      if cell.kind == .missing { continue }
      switch convert(cell, target.converter) {
      case .success(.null) where target.hasDefault: break  // keeps it
      case .success(let value): values[target.slot] = value
      case .failure(let code):
        failure = failure ?? rejection(record, cell, target.converter, code)
        isLost = filter?.reads(target.slot) ?? true
      }
      if isLost { break }
    }
    if !isLost, !mapping.parts.isEmpty, let problem = setParts(record, &values, &isLost) {
      failure = failure ?? problem
    }
    var keys: [Value] = []
    if !isLost, !mapping.references.isEmpty {
      keys.reserveCapacity(mapping.references.count)
      for reference in mapping.references {
        switch key(reference, record) {
        case .success(let key): keys.append(key)
        case .failure(let problem):
          failure =
            failure
            ?? source.rejection(
              record, column: reference.relationship.name, code: problem.code, message: problem.message)
          keys.append(.unresolved)
          isLost = filter?.reads(reference.relationship.slot) ?? true
        }
        if isLost { break }
      }
    }
    if !isLost, let filter, !filter.takes(values, keys: keys, of: mapping.references) {
      skipped += 1
      return
    }
    var lists: [[Value]?] = []
    if failure == nil, !mapping.collections.isEmpty {
      lists.reserveCapacity(mapping.collections.count)
      for collection in mapping.collections {
        switch list(collection, record) {
        case .success(let keys): lists.append(keys)
        case .failure(let problem):
          failure = source.rejection(
            record, column: collection.relationship.name, code: problem.code, message: problem.message)
        }
        if failure != nil { break }
      }
    }
    var nested: [Nested] = []
    if failure == nil, !mapping.nesting.isEmpty { failure = nest(record, into: &nested) }
    if failure == nil, isChecked {
      mapping.entity.validationRules.check(values, of: nil, into: &failures)
      if let first = failures.first {
        failure = source.rejection(record, column: first.property, code: first.code, message: first.description)
        failures.removeAll(keepingCapacity: true)
      }
    }
    if let failure {
      rejections.append(failure)
      if notesRejected { noteRejected(record) }
    } else if let newRows {
      newRows.append(values)
      newRecords.append(record)
    } else {
      rows.append(Row(record: record, values: values, keys: keys, lists: lists, nested: nested))
    }
  }

  func convert(_ cell: Cell, _ converter: ValueConverter) -> Result<Value, ConversionCode> {
    switch cell.kind {
    case .text:
      return source.withBytes(of: cell) { bytes in
        Self.attempt { () throws(ConversionCode) in try converter.convert(text: bytes) }
      }
    case .number:
      return source.withBytes(of: cell) { bytes in
        Self.attempt { () throws(ConversionCode) in try converter.convert(number: bytes) }
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
  static func attempt(_ conversion: () throws(ConversionCode) -> Value) -> Result<Value, ConversionCode> {
    do throws(ConversionCode) {
      return .success(try conversion())
    } catch {
      return .failure(error)
    }
  }

  struct KeyProblem: Error {
    let code: String
    let message: String
  }

  func key(_ reference: RecordMapping.Reference, _ record: Int) -> Result<Value, KeyProblem> {
    if let constant = reference.constant { return .success(constant) }
    if mapping.isAbsent(reference, record, in: source) { return .success(.unresolved) }
    if mapping.mayNest, let column = reference.column, hasObject(source.cell(record, column)) {
      return .success(.unresolved)
    }
    let converted: Result<Value, ConversionCode>
    let text: String
    if let cell = mapping.keyCell(reference, record, in: source) {
      converted = convert(cell, reference.converter)
      text = source.string(cell)
    } else if var rendered = mapping.renderedKey(reference, record, in: source) {
      text = rendered
      converted = rendered.withUTF8 { bytes in
        Self.attempt { () throws(ConversionCode) in try reference.converter.convert(text: UnsafeRawBufferPointer(bytes))
        }
      }
    } else {
      return .success(reference.defaultKey ?? .null)
    }
    if case .success(.null) = converted { return .success(reference.defaultKey ?? .null) }
    return converted.mapError { code in
      var text = text
      let message = text.withUTF8 { reference.converter.problem(code, text: UnsafeRawBufferPointer($0)).description }
      return KeyProblem(code: code.rawValue, message: message)
    }
  }

  func rejection(_ record: Int, _ cell: Cell, _ converter: ValueConverter, _ code: ConversionCode) -> Rejection {
    let problem = source.withBytes(of: cell) { converter.problem(code, text: $0) }
    return source.rejection(
      record, column: problem.attribute, code: problem.code.rawValue, message: problem.description)
  }
}
