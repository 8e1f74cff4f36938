package import ManagedObjects

/// The first records of a source, converted as an import would: with the recipe's notations and masks, and without objects.
package struct RecordSample {
  /// The properties that records give, attributes first.
  package private(set) var properties: [String] = []
  /// Their values, of each record that isn't filtered out, nor rejected for what it says itself: only a trial finds out which
  /// have no related object, or the key of another. Of a relationship, the key, or the keys as one text.
  package private(set) var rows: [[Value]] = []

  /// Reads the source's beginning.
  /// - Parameter limit: how many records are read.
  /// - Throws: ``MappingError``, ``ReaderError``, ``MaskingError``, and ``Interrupted`` when the request says so.
  package init(_ request: ImportRequest, into entity: EntityDescription, limit: Int) throws {
    let source = try ImportSource(request.source, descriptor: request.descriptor)
    defer { withExtendedLifetime(source) {} }
    let interruption = request.makeInterruption()
    let opened = try interruption.limit {
      try openSource(
        fileDescriptor: source.descriptor, name: request.name, options: request.options.reader,
        log: source.log?.descriptor, isMoved: request.isMoved, from: nil)
    }
    let batch = RecordBatch()
    guard try interruption.limit({ try opened.reader.read(into: batch, limit: limit) }) else { return }
    let mapping = try RecordMapping(
      entity, columns: batch.columns, options: request.options.mapping, mayNest: !opened.isTabular,
      keys: MaskKeys(request.credentials))
    if let masking = mapping.masking { try masking.mask(batch, opened.reader.rejectForm) }
    var converter = RecordConverter(
      batch, mapping, request.options.effectiveMode(for: entity), bytesRead: opened.reader.bytesRead)
    let converted = try interruption.limit { try converter.convertForObjects() }
    let attributes = Self.attributes(of: mapping)
    properties = attributes.map(\.name) + (mapping.references + mapping.collections).map(\.relationship.name)
    let given = Set(attributes.map(\.name))
    rows = converted.rows.filter { Self.isValid($0, in: entity, given) }.map { row in
      attributes.map { row.values[$0.slot] } + row.keys + row.lists.map(Self.text)
    }
    for place in rows.indices where rows[place].count < properties.count {
      rows[place] += Array(repeating: .null, count: properties.count - rows[place].count)
    }
  }

  /// Whether an import keeps a row. Only what the record gives is asked: an object that is there may have the rest.
  private static func isValid(
    _ row: ConvertedBatch.Row, in entity: EntityDescription, _ given: Set<String>
  ) -> Bool {
    var failures: [ValidationFailure] = []
    entity.validationRules.check(row.values, of: nil, into: &failures)
    return !failures.contains { given.contains($0.property) }
  }

  /// The attributes that a column or the recipe gives a value.
  private static func attributes(of mapping: RecordMapping) -> [AttributeDescription] {
    let given = Set(mapping.attributes.map(\.slot) + mapping.rules.constants.map(\.slot))
      .union(mapping.rules.defaults).union(mapping.parts.flatMap { $0.parts.map(\.attribute.slot) })
    return RecordMapping.attributes(of: mapping.entity).filter { given.contains($0.slot) }
  }

  private static func text(_ keys: [Value]?) -> Value {
    keys.map { .string($0.map(\.plainText).joined(separator: ", ")) } ?? .null
  }
}
