// A source is read as an import would read it, with the recipe's options, columns and notations, and nothing is written:
//
//   source ─▶ batches ─┬─ cells of attributes ─▶ converters: which values don't fit, and which wider type holds them
//                      └─ other columns ─▶ profiles, as `ladectl model infer` makes them
//
// What a filter would leave out is counted like everything else.

package import ManagedObjects

/// Compares a source with the model that it is imported into.
package struct SchemaScan {
  /// Records that are read at a time.
  private static let batchSize = 4_096
  private let model: ManagedObjectModel
  private let request: ImportRequest

  package init(_ request: ImportRequest, into model: ManagedObjectModel) {
    self.request = request
    self.model = model
  }

  /// Reads the source.
  ///
  /// - Parameters:
  ///   - records: how many records of each file are read at most; nil for all.
  ///   - shouldStop: asked after each batch. What was read so far is compared.
  /// - Throws: ``MappingError``, ``ReaderError``, ``MaskingError``.
  package func run(records: Int64? = nil, shouldStop: () -> Bool) throws -> SchemaDifference {
    var difference = SchemaDifference()
    guard request.entity == ImportRequest.feed else {
      guard let entity = model.entitiesByName[request.entity] else {
        throw MappingError.unknownEntity(name: request.entity, known: model.entities.map(\.name))
      }
      let source = try ImportSource(request.source, descriptor: request.descriptor)
      try scan(source, request, nil, entity, records, shouldStop, &difference)
      return difference
    }
    let entities = model.entities.filter { !$0.isAbstract && !ImportModel.entities.contains($0.name) }
    var lenient = request
    // What it freezes is a difference to report here.
    lenient.options.mapping.schema.entities = .discardRow
    var archive: ImportSource?
    let plan: FeedPlan
    if let set = request.options.set {
      let folder = try SetFolder(request.source, set)
      plan = try FeedPlan(folder, lenient, entities)
      // Nothing is made of a set that doesn't add up.
      let masks = plan.steps.contains { request.options.mapping.masks(into: $0.entity) }
      do {
        try SetCheck(folder: folder, options: request.options.reader, masks: masks).run(shouldStop: shouldStop)
      } catch is KnownFile.Stopped {
        difference.isWhole = false
        return difference
      }
    } else {
      let source = try ImportSource(request.source, descriptor: request.descriptor)
      archive = source
      plan = try FeedPlan(source, lenient, entities, model)
    }
    if request.options.mapping.schema.entities == .evolve, !plan.unmatched.isEmpty {
      difference.newEntities = try newEntities(of: plan.unmatched, archive)
    }
    for name in plan.unmatched {
      difference.add(
        .init(
          subject: .entities, file: SourceError.shown(name), entity: nil, column: nil, attribute: nil, type: nil,
          newType: nil, values: 0, example: nil, line: nil, term: request.options.mapping.schema.entities))
    }
    for step in plan.steps {
      let part = step.request(in: request)
      let source = try step.file == nil ? archive : ImportSource(part.source)
      guard let source else { continue }
      try scan(
        source, part, step, step.entity, records, shouldStop, &difference)
    }
    return difference
  }

  /// The entities that files would become which belong to none: what `ladectl model infer` makes of them.
  private func newEntities(of names: [String], _ source: ImportSource?) throws -> [EntityDefinition] {
    guard let source, names.count <= SchemaEvolution.mostEntitiesOfFile else {
      throw MappingError.cannotEvolve(
        reason: "it has \(names.count) files that belong to no entity: add them to the model by hand")
    }
    var inference = ModelInference(reader: request.options.reader, nulls: request.options.mapping.nulls)
    (inference.keyLimit, inference.hashLimit) = (100_000, 2_000_000)
    let path = "/proc/self/fd/\(source.descriptor)"
    do {
      return try inference.run(members: names, of: path, named: request.name).definitions
    } catch let error as InferenceError {
      throw MappingError.cannotEvolve(reason: "no entity can be inferred: \(error)")
    }
  }

  private func scan(
    _ source: ImportSource, _ request: ImportRequest, _ step: FeedPlan.Step?, _ entity: EntityDescription,
    _ limit: Int64?, _ shouldStop: () -> Bool, _ difference: inout SchemaDifference
  ) throws {
    let opened: OpenedSource
    let interruption = request.makeInterruption()
    do {
      opened = try interruption.limit {
        try openSource(
          fileDescriptor: source.descriptor, name: request.name, options: request.options.reader, member: step?.member,
          log: source.log?.descriptor, isMoved: request.isMoved,
          hasTrailer: step?.file != nil && self.request.options.set?.control.trailer == true, from: nil)
      }
    } catch ReaderError.emptyFile {
      return
    } catch let error as ReaderError {
      throw request.options.mapping.masks(into: entity) ? error.withoutNames : error
    }
    var options = request.options.mapping
    // All differences are found, not only the first.
    options.schema.columns = .discardValue
    var mapping = try RecordMapping(
      entity, columns: opened.reader.columns, options: options, mayNest: !opened.isTabular,
      keys: MaskKeys(request.credentials))
    var findings = SchemaFindings(nulls: options.nulls)
    let batch = RecordBatch()
    var left = limit ?? .max
    func read() throws -> Bool {
      do {
        return try interruption.limit {
          try opened.reader.read(into: batch, limit: Int(min(left, Int64(Self.batchSize))))
        }
      } catch is Interrupted {
        difference.isWhole = false
        return false
      }
    }
    while left > 0, try read() {
      if batch.columns.count != mapping.columns.count { mapping = try mapping.extended(to: batch.columns) }
      if let masking = mapping.masking { try masking.mask(batch, opened.reader.rejectForm) }
      findings.note(batch, mapping)
      left -= Int64(batch.count)
      if shouldStop() {
        difference.isWhole = false
        break
      }
    }
    if left <= 0 { difference.isWhole = false }
    difference.records += findings.records
    findings.changes(of: mapping, file: step?.isPart == true ? step?.name : nil, request.options.mapping.schema).forEach
    { difference.add($0) }
  }
}

/// What the records of a file have that their entity has nothing for.
private struct SchemaFindings {
  /// Values of an attribute's column that don't fit.
  private struct Misfits {
    var values: Int64 = 0
    let line: Int64
    let example: String
    /// The converters of wider types that all of them fit, the narrowest first.
    var wider: [(type: AttributeType, converter: ValueConverter)]
  }

  private(set) var records: Int64 = 0
  private var misfits: [Int: Misfits] = [:]
  private var columns: [String: ColumnProfile] = [:]
  private var lines: [String: Int64] = [:]
  private let nulls: NullWords?
  /// Whether values are unique makes no difference here.
  private let budget = HashBudget(0)

  init(nulls: [String]) { self.nulls = nulls.isEmpty ? nil : NullWords(nulls) }

  mutating func note(_ batch: RecordBatch, _ mapping: RecordMapping) {
    let fields = RecordFields(batch, mapping)
    let new = mapping.newColumns.prefix(SchemaDifference.limit).map { (place: $0, name: mapping.columns[$0]) }
    for column in new where columns[column.name] == nil {
      columns[column.name] = ColumnProfile(column.name, budget: budget)
    }
    for record in 0..<batch.count {
      if batch.hasProblems, batch.problem(record) != nil { continue }
      records += 1
      for target in mapping.attributes {
        let cell = batch.cell(record, target.column)
        guard case .failure(let code) = fields.value(cell, target.converter), code.isOfType else { continue }
        note(cell, of: target, batch.line(record), fields)
      }
      for column in new {
        let cell = batch.cell(record, column.place)
        guard columns[column.name]?.note(cell, batch, owner: records, limit: 0, nulls: nulls, budget) == true else {
          continue
        }
        if lines[column.name] == nil { lines[column.name] = batch.line(record) }
      }
    }
  }

  private mutating func note(
    _ cell: Cell, of target: RecordMapping.AttributeColumn, _ line: Int64, _ fields: RecordFields
  ) {
    let attribute = target.converter.attribute
    var known =
      misfits[target.slot]
      ?? Misfits(
        line: line, example: fields.source.string(cell).shown,
        wider: WiderTypes.of(attribute, fields.mapping.options.properties[attribute.name]).compactMap { type in
          target.converter.widened(to: type).map { (type, $0) }
        })
    known.values += 1
    known.wider.removeAll {
      if case .failure = fields.value(cell, $0.converter) { true } else { false }
    }
    misfits[target.slot] = known
  }

  /// What there is to say about them, in the order of the columns.
  func changes(of mapping: RecordMapping, file: String?, _ contract: SchemaContract) -> [SchemaDifference.Change] {
    let isMasking = mapping.rules.isMasking
    let entity = mapping.entity
    let typed = mapping.attributes.compactMap { target -> SchemaDifference.Change? in
      guard let found = misfits[target.slot] else { return nil }
      let attribute = target.converter.attribute
      return .init(
        subject: .types, file: file, entity: entity.name, column: SourceError.shown(mapping.columns[target.column]),
        attribute: attribute.name, type: attribute.type, newType: found.wider.first?.type, values: found.values,
        example: isMasking ? nil : SourceError.shown(found.example), line: found.line, term: contract.types)
    }
    var taken = NewAttributes.taken(in: entity)
    let new = mapping.ignored.compactMap { name -> SchemaDifference.Change? in
      guard let profile = columns[name] else { return nil }
      let attribute = NewAttributes.attribute(for: profile, among: &taken)
      return .init(
        subject: .columns, file: file, entity: entity.name, column: SourceError.shown(mapping.shown([name])[0]),
        attribute: isMasking ? nil : attribute?.name, type: nil, newType: attribute?.type,
        values: profile.present + profile.nested,
        example: isMasking ? nil : profile.examples.first.map { SourceError.shown($0) }, line: lines[name],
        term: contract.columns, definition: isMasking ? nil : attribute)
    }
    return typed + new
  }
}

/// Attributes for columns that a model doesn't have.
enum NewAttributes {
  /// The longest name of a column that a model takes, in bytes.
  private static let longestName = 256

  /// The names that a new attribute of an entity can't have, in lower case: those of its whole hierarchy, which shares a table.
  static func taken(in entity: EntityDescription) -> Set<String> {
    var names: Set<String> = []
    var entities: [EntityDescription] = [entity.rootEntity]
    while let next = entities.popLast() {
      names.formUnion(next.properties.map { $0.name.lowercased() })
      entities += next.subentities
    }
    return names
  }

  /// The attribute for a column of these values, which may be null; nil if there are none, or none that an attribute holds.
  static func attribute(for column: ColumnProfile, among taken: inout Set<String>) -> AttributeDefinition? {
    guard !column.name.isEmpty, column.name.utf8.count <= longestName,
      column.name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { return nil }
    if column.nesting?.isOfTexts == true {
      var attribute = AttributeDefinition(name(of: column, among: &taken), .transformable)
      attribute.attributeValueClassName = "[String]"
      if attribute.name != column.name { attribute.userInfo["mappedKeyName"] = column.name }
      return attribute
    }
    guard column.present > 0, column.nested == 0 else { return nil }
    let type = column.type
    var attribute = AttributeDefinition(name(of: column, among: &taken), type.type)
    if attribute.name != column.name { attribute.userInfo["mappedKeyName"] = column.name }
    attribute.userInfo["dateFormat"] = type.dateFormat
    return attribute
  }

  private static func name(of column: ColumnProfile, among taken: inout Set<String>) -> String {
    NameText.unique(NameText.property(of: column.name), among: &taken)
  }
}
