import ManagedObjects

/// Converts the records of a batch into rows and rejections. On the reading thread.
struct RecordConverter {
  private let fields: RecordFields
  /// The columns of attributes, which the mapping owns. They aren't counted for each cell.
  private let attributes: [Unmanaged<RecordMapping.AttributeColumn>]
  private let codes: KeyCodes
  private let mode: ImportMode
  private let bytesRead: Int64
  private let isChecked: Bool
  /// Whether it has to be known what rejected records are about.
  private let notesRejected: Bool
  private let filter: RecordFilter?
  /// Hashes the rows, where it is recorded where they come from.
  private let hash: RowFingerprint?
  private var rejections: [Rejection] = []
  /// Values that the recipe leaves out because they don't fit, by attribute, and those of the record that is being read.
  private var leftOut: [String: Int64] = [:]
  private var leavingOut: [String] = []
  /// Why the import can't go on, as the recipe's contract says it.
  private var refusal: MappingError?
  private let freezesTypes: Bool
  private var skipped: Int64 = 0
  private var rejectedKeys = RejectedKeys()
  /// Whether one of the flat rows needs an object to be settled.
  private var needsObjects = false
  /// Whether nested objects need objects: the batch is converted again then.
  private var needsRecords = false
  /// Reused from record to record.
  private var failures: [ValidationFailure] = []

  private var source: RecordBatch { fields.source }
  private var mapping: RecordMapping { fields.mapping }

  /// - Parameter codes: numbers the keys of references of many batches; none are needed where rows become objects.
  init(
    _ source: RecordBatch, _ mapping: RecordMapping, _ mode: ImportMode, bytesRead: Int64,
    _ codes: KeyCodes = KeyCodes(), hash: RowFingerprint? = nil
  ) {
    self.codes = codes
    self.hash = hash
    fields = RecordFields(source, mapping)
    attributes = mapping.attributes.map(Unmanaged.passUnretained)
    self.mode = mode
    self.bytesRead = bytesRead
    isChecked = Self.checksRows(of: mapping.entity, mode)
    notesRejected = mapping.identifiesRejected(in: mode)
    filter = mapping.rules.filter
    freezesTypes = mapping.options.schema.types == .freeze
  }

  /// Whether every row becomes a new object and can be validated before it is one.
  static func checksRows(of entity: EntityDescription, _ mode: ImportMode) -> Bool {
    mode == .insert && entity.validationRules.concernsAttributesOnly
  }

  /// Converts every record: into a row for an object of that coordinator, or into a rejection.
  /// - Throws: ``Interrupted`` when the filter was.
  mutating func convert(for coordinator: PersistentStoreCoordinator) throws(Interrupted) -> ConvertedBatch {
    // A filter and composite attributes need values.
    let isDirect = filter == nil && fields.mapping.parts.isEmpty
    guard var flat = makeFlatRows(for: coordinator, isDirect: isDirect) else { return try convertForObjects() }
    for record in 0..<source.count where isReadable(record) {
      if isDirect {
        convert(record, into: &flat)
        if needsRecords || (needsObjects && mode.findsObjects), flat.mayNest { return try convertedAgain() }
      } else if let row = try row(of: record) {
        flat.rows.append(row.values)
        flat.append(record: record)
      }
    }
    let canStayFlat = settle(&flat)
    if !canStayFlat, flat.mayNest { return try convertedAgain() }
    let batch = batch([], flat)
    if !canStayFlat { try batch.makeRows() }
    return batch
  }

  /// Converts every record into a row for an object, or into a rejection.
  /// - Throws: ``Interrupted`` when the filter was.
  mutating func convertForObjects() throws(Interrupted) -> ConvertedBatch {
    var rows = ContiguousArray<ConvertedBatch.Row>()
    rows.reserveCapacity(source.count)
    for record in 0..<source.count where isReadable(record) {
      if let row = try row(of: record) { rows.append(row) }
    }
    return batch(rows, nil)
  }

  /// The same records, converted from the first on for objects.
  private func convertedAgain() throws(Interrupted) -> ConvertedBatch {
    var again = RecordConverter(source, mapping, mode, bytesRead: bytesRead)
    return try again.convertForObjects()
  }

  private func batch(_ rows: ContiguousArray<ConvertedBatch.Row>, _ flat: FlatRows?) -> ConvertedBatch {
    ConvertedBatch(
      source, mapping, mode, bytesRead: bytesRead, isChecked: isChecked, rows: rows, flat: flat,
      rejections: rejections, skipped: skipped, rejectedKeys: rejectedKeys, leftOut: leftOut, refusal: refusal)
  }

  // MARK: Flat rows

  /// Rows without objects, where they are possible; nil elsewhere.
  private func makeFlatRows(for coordinator: PersistentStoreCoordinator, isDirect: Bool) -> FlatRows? {
    let mapping = fields.mapping
    let entity = mapping.entity
    guard !entity.hasOwnClass, entity.validationRules.hasNoSets, mapping.hasPlainReferencesOnly else { return nil }
    // Rows made of values are validated as values, or as objects.
    if !isDirect, !isChecked || !mapping.references.isEmpty { return nil }
    guard mapping.comparisonKey(in: mode) != nil else { return nil }
    var initial = mapping.rules.initialValues
    var shapes: [FlatNesting] = []
    if mapping.mayNest, !mapping.nesting.isEmpty {
      // What the store has is compared with objects.
      guard mode == .insert || mode == .upsert, isDirect, let flat = mapping.flatNesting,
        !mapping.nestedMappings.expectsObjects()
      else { return nil }
      shapes = flat
      // The nested rows say what belongs to it.
      for shape in shapes { initial[shape.relationship.slot] = .unresolved }
    }
    var nested: [FlatNestedRows] = []
    for shape in shapes {
      guard let rows = FlatNestedRows(shape, in: source, of: coordinator) else { return nil }
      nested.append(rows)
    }
    let rows = NewRows(
      entity, of: coordinator, capacity: source.count, textCapacity: source.byteCount, initial: initial)
    codes.begin(references: mapping.references.count, rows: source.count)
    return FlatRows(
      rows, references: mapping.references.count, codes.generation, mayNest: !mapping.nesting.isEmpty,
      nested: nested, capacity: source.count, hash: hash)
  }

  /// Whether the rows need no objects yet. Prepares the comparison with the store's rows, in a mode that finds objects.
  private func settle(_ flat: inout FlatRows) -> Bool {
    guard flat.sortNested() else { return false }
    guard mode.findsObjects else { return !needsObjects || mapping.references.isEmpty }
    guard !needsObjects, let key = mapping.comparisonKey(in: mode) else { return false }
    return key.isEmpty || flat.sort(by: key)
  }

  /// Converts a record into the next flat row, or into a rejection.
  private mutating func convert(_ record: Int, into flat: inout FlatRows) {
    let rows = flat.rows
    rows.beginRow()
    for target in attributes {
      if let failure = target._withUnsafeGuaranteedRef({ convert(record, $0, into: rows) }) {
        return reject(record, failure)
      }
    }
    if !fields.mapping.refusedColumns.isEmpty, let failure = fields.newValue(record) { return reject(record, failure) }
    if !fields.mapping.references.isEmpty, let failure = setKeys(record, in: &flat) {
      return reject(record, failure)
    }
    fields.mapping.entity.validationRules.check(rowBegunIn: rows, into: &failures)
    if let first = failures.first {
      failures.removeAll(keepingCapacity: true)
      guard mode.findsObjects else {
        leavingOut.removeAll()
        return rejections.append(rejection(record, first))
      }
      // The object that it is about may have what the record lacks.
      needsObjects = true
    }
    // Last, since a record that was rejected has no nested rows.
    guard flat.readNested(record, in: source) else {
      needsRecords = true
      return
    }
    rows.endRow()
    flat.append(record: record)
    countLeftOut()
  }

  /// Converts the cell of an attribute into the row that was begun.
  @inline(__always)
  private mutating func convert(
    _ record: Int, _ target: RecordMapping.AttributeColumn, into rows: NewRows
  ) -> Rejection? {
    let cell = fields.source.cell(record, target.column)
    if cell.kind == .missing {
      // An object keeps what it has where the record says nothing.
      needsObjects = true
      return nil
    }
    do throws(ConversionCode) {
      try target.converter.convert(
        cell, fields.source.bytes(of: cell), into: rows, target.slot, keepsNull: target.hasDefault)
      return nil
    } catch {
      guard target.mayLackValue, error.isOfType else {
        return fields.rejection(record, cell, target.converter, error)
      }
      if !target.hasDefault { rows.setNull(target.slot) }
      leavingOut.append(target.converter.attribute.name)
      return nil
    }
  }

  /// Notes the keys of a record's references.
  private mutating func setKeys(_ record: Int, in flat: inout FlatRows) -> Rejection? {
    for (place, reference) in fields.mapping.references.enumerated() {
      switch fields.key(reference, record) {
      case .success(let key):
        // An object keeps what it has where the record says nothing.
        if key == .unresolved { needsObjects = true }
        if !key.isNull { flat.rows.setReference(reference.relationship.slot) }
        flat.setKey(key, codes.code(key, place), place)
      case .failure(let problem):
        return fields.rejection(record, reference, problem)
      }
    }
    return nil
  }

  // MARK: Rows for objects

  /// Converts a record into a row; nil if it was rejected or the filter leaves it out.
  private mutating func row(of record: Int) throws(Interrupted) -> ConvertedBatch.Row? {
    let mapping = fields.mapping
    var values = mapping.rules.initialValues
    var failure: Rejection?
    // Set once the filter can't be asked any more, because what it reads couldn't be converted. A record that the filter
    // leaves out isn't rejected for what the filter doesn't read.
    var isLost = false
    for target in mapping.attributes {
      let cell = source.cell(record, target.column)
      if cell.kind == .missing { continue }
      switch fields.value(cell, target.converter) {
      case .success(.null) where target.hasDefault: break  // keeps it
      case .success(let value): values[target.slot] = value
      case .failure(let code):
        if target.mayLackValue, code.isOfType {
          if !target.hasDefault { values[target.slot] = .null }
          leavingOut.append(target.converter.attribute.name)
          break
        }
        failure = failure ?? fields.rejection(record, cell, target.converter, code)
        isLost = filter?.reads(target.slot) ?? true
      }
      if isLost { break }
    }
    if !isLost, !mapping.parts.isEmpty,
      let problem = fields.setParts(record, &values, filter, &isLost, leavingOut: &leavingOut)
    {
      failure = failure ?? problem
    }
    var keys: [Value] = []
    if !isLost, !mapping.references.isEmpty {
      keys.reserveCapacity(mapping.references.count)
      for reference in mapping.references {
        switch fields.key(reference, record) {
        case .success(let key): keys.append(key)
        case .failure(let problem):
          failure = failure ?? fields.rejection(record, reference, problem)
          keys.append(.unresolved)
          isLost = filter?.reads(reference.relationship.slot) ?? true
        }
        if isLost { break }
      }
    }
    if !isLost, let filter, try !filter.takes(values, keys: keys, of: mapping.references) {
      skipped += 1
      leavingOut.removeAll()
      return nil
    }
    if failure == nil, !mapping.refusedColumns.isEmpty { failure = fields.newValue(record) }
    var lists: [[Value]?] = []
    var nested: [ConvertedBatch.Nested] = []
    if failure == nil { failure = readLists(record, into: &lists) }
    if failure == nil, !mapping.nesting.isEmpty { failure = fields.nest(record, into: &nested) }
    if failure == nil, isChecked {
      mapping.entity.validationRules.check(values, of: nil, into: &failures)
      if let first = failures.first {
        failure = rejection(record, first)
        failures.removeAll(keepingCapacity: true)
      }
    }
    if let failure {
      reject(record, failure)
      return nil
    }
    countLeftOut()
    return ConvertedBatch.Row(record: record, values: values, keys: keys, lists: lists, nested: nested)
  }

  /// The record that was read last has become a row.
  @inline(__always)
  private mutating func countLeftOut() {
    if leavingOut.isEmpty { return }
    for attribute in leavingOut { leftOut[attribute, default: 0] += 1 }
    leavingOut.removeAll(keepingCapacity: true)
  }

  private func readLists(_ record: Int, into lists: inout [[Value]?]) -> Rejection? {
    if fields.mapping.collections.isEmpty { return nil }
    lists.reserveCapacity(fields.mapping.collections.count)
    for collection in fields.mapping.collections {
      switch fields.list(collection, record) {
      case .success(let keys): lists.append(keys)
      case .failure(let problem): return fields.rejection(record, collection, problem)
      }
    }
    return nil
  }

  // MARK: Rejections

  /// Rejects a record that the reader couldn't read, or that says nothing but why it was rejected before.
  private mutating func isReadable(_ record: Int) -> Bool {
    if fields.source.hasProblems, let problem = source.problem(record) {
      reject(
        record,
        source.rejection(
          record, column: source.column(of: problem, record), code: problem.code, message: problem.description))
      return false
    }
    if let column = fields.mapping.reasonColumn, fields.hasReasonOnly(record, column) {
      rejections.append(
        source.rejection(
          record, code: RejectReason.notCorrected, message: "the record says why it was rejected, and nothing else"))
      return false
    }
    return true
  }

  private func rejection(_ record: Int, _ failure: ValidationFailure) -> Rejection {
    source.rejection(record, column: failure.property, code: failure.code, message: failure.description)
  }

  private mutating func reject(_ record: Int, _ rejection: Rejection) {
    leavingOut.removeAll(keepingCapacity: true)
    if freezesTypes, refusal == nil, ConversionCode(rawValue: rejection.code)?.isOfType == true {
      refusal = .changedType(entity: mapping.entity.name, line: rejection.line, message: rejection.message)
    }
    rejections.append(rejection)
    guard notesRejected else { return }
    if let (key, place) = fields.uniqueKey(record) {
      rejectedKeys.note(key, place)
    } else {
      rejectedKeys.noteUnidentified(line: source.line(record))
    }
  }
}
