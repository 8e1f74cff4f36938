import Foundation
package import ManagedObjects

/// What is imported from a file that holds records of several entities, and in which order.
struct FeedPlan {
  /// One file, or member of an archive.
  struct Step {
    let member: ArchiveMember?
    /// The member's name, or the file's, safe to print.
    let name: String
    let entity: EntityDescription
    /// The name of its reject file.
    let rejects: String
    /// Names its checkpoint.
    let job: String
    /// The query for the records of an entity of a Core Data store; nil for other files.
    var select: CoreDataSelects.Select? = nil
    /// The name of the sheet of a workbook; nil for other files.
    var sheet: String? = nil
    /// The file of a set; nil for other sources.
    var file: SetFile? = nil

    /// Whether it is one of several in the file.
    var isPart: Bool { member != nil || select != nil || sheet != nil || file != nil }

    /// The bytes to read, as far as they are known.
    var size: Int64 { max(0, member?.size ?? file?.size ?? 0) }
  }

  /// One of the files of a set.
  struct SetFile {
    let url: URL
    let name: String
    let size: Int64
  }

  private(set) var steps: [Step] = []
  /// Whether the ends of members have to wait until all members are read: because entities refer to each other in a cycle,
  /// or because what a member deletes may be needed by rows that a later member deletes.
  private(set) var holdsEnds = false
  /// Files of records that belong to no entity.
  private(set) var unmatched: [String] = []
  /// Remarks about the rest of the archive.
  private(set) var notes: [String] = []

  /// The entity, for a file that isn't an archive; ``ImportRequest/feed`` otherwise.
  private(set) var target = ImportRequest.feed

  private static let shown = 20
  /// Each file has a checkpoint and a line in the job's note.
  private static let limit = 1_000

  /// - Throws: ``MappingError/badFeed(reason:)`` if none of the files belongs to an entity, or two belong to one whose objects
  ///   each would replace; `ReaderError` if the archive can't be listed.
  init(
    _ source: ImportSource, _ request: ImportRequest, _ entities: [EntityDescription], _ model: ManagedObjectModel
  ) throws {
    let reader = request.options.reader
    if let sheets = try Self.sheets(source, reader) {
      try takeSheets(sheets, request, entities)
      return
    }
    guard
      let archive = try SourceArchive(fileDescriptor: source.descriptor, name: request.name, options: reader)
    else {
      if let store = try Self.store(source, reader) {
        try takeStore(store, request, entities, model)
      } else {
        try takeFile(request, entities)
      }
      return
    }
    let wanted = reader.member.map { name in (name, MemberPattern(name)) }
    let members = archive.members.filter { member in
      wanted.map { $0 == member.name || $1.matches(member.name) } ?? true
    }
    let (known, unknown) = Self.separate(members, reader, entities)
    let order = ImportOrder(entities, files: known.map(\.name))
    var byName = Dictionary(grouping: known.reversed(), by: \.name)
    var names: Set<String> = []
    for step in order.steps {
      guard let member = byName[step.file]?.popLast(), let entity = entities.first(where: { $0.name == step.entity })
      else { continue }
      var rejects = RejectFolder.name(for: member.name, reader)
      if !names.insert(rejects).inserted { rejects = "\(member.index)-\(rejects)" }
      names.insert(rejects)
      steps.append(
        Step(
          member: member, name: SourceError.shown(member.name), entity: entity, rejects: rejects,
          job: FeedPart.prefix(of: request.job) + String(member.index)))
    }
    let ignored = (order.unmatched + unknown.map(\.name)).map(SourceError.shown)
    guard steps.count <= Self.limit else {
      throw MappingError.badFeed(
        reason: "the archive has \(steps.count) files of entities, more than \(Self.limit): split it")
    }
    guard !steps.isEmpty else { throw Self.noSteps(members.map(\.name), entities) }
    try checkModes(request.options)
    try checkNew(order.unmatched, request.options)
    noteIgnored(ignored)
    noteMissing(entities)
    noteCycles(order)
    holdsEnds = !order.cycles.isEmpty || request.options.deletes
  }

  /// Each file of a set is a step. None is left out: what has no entity is an error.
  /// - Throws: ``SetFault``, or ``MappingError/badFeed(reason:)``.
  init(_ folder: SetFolder, _ request: ImportRequest, _ entities: [EntityDescription]) throws {
    let parts = folder.parts.parts
    let owners = try folder.set.entities(of: parts, among: entities)
    var waiting = Array(zip(parts, owners).enumerated())
    let order = ImportOrder(entities, files: owners.map { $0.userInfo[ImportOrder.fileNameKey] ?? $0.name })
    var names: Set<String> = []
    for step in order.steps {
      guard let next = waiting.firstIndex(where: { $0.element.1.name == step.entity }) else { continue }
      let (index, (part, entity)) = waiting.remove(at: next)
      // Called after the entity, by which a retry of the rejects finds it.
      let name = FileNames.base(of: entity.userInfo[ImportOrder.fileNameKey] ?? entity.name)
      var rejects = name + RejectFileName.ending(of: FileNames.last(of: part.name), request.options.reader)
      if !names.insert(rejects).inserted { rejects = "\(index)-\(rejects)" }
      names.insert(rejects)
      steps.append(
        Step(
          member: nil, name: SourceError.shown(part.name), entity: entity, rejects: rejects,
          job: FeedPart.prefix(of: request.job) + String(index),
          file: SetFile(url: folder.url(of: part.name), name: part.name, size: folder.length(of: part))))
    }
    if let (_, (part, entity)) = waiting.first {
      throw SetFault.noEntity(file: part.name, known: [entity.name])
    }
    try checkModes(request.options)
    noteMissing(entities)
    noteCycles(order)
    holdsEnds = !order.cycles.isEmpty || request.options.deletes
  }

  /// The sheets of the workbook that the file is; nil if it is none.
  private static func sheets(
    _ source: ImportSource, _ reader: ReaderOptions
  ) throws -> (chosen: [Workbook.Sheet], left: [Workbook.Sheet])? {
    guard reader.format == nil || reader.format == .xlsx else { return nil }
    let beginning = try PlainSource(descriptor: source.descriptor).readSample(SourceSample.signatureSize)
    guard Workbook.isWorkbook(descriptor: source.descriptor, beginning: beginning, options: reader) else { return nil }
    let workbook = try Workbook(descriptor: source.descriptor, options: reader)
    let chosen = try workbook.chosen(reader.member)
    return (chosen, workbook.sheets.filter { !chosen.contains($0) })
  }

  /// Each sheet is a step, by its name.
  private mutating func takeSheets(
    _ sheets: (chosen: [Workbook.Sheet], left: [Workbook.Sheet]), _ request: ImportRequest,
    _ entities: [EntityDescription]
  ) throws {
    let order = ImportOrder(entities, files: sheets.chosen.map(\.name))
    var names: Set<String> = []
    for step in order.steps {
      guard let sheet = sheets.chosen.first(where: { $0.name == step.file }),
        let entity = entities.first(where: { $0.name == step.entity })
      else { continue }
      // As that of a file with this name would be called.
      var rejects = RejectFolder.name(for: sheet.name + ".xlsx", ReaderOptions())
      if !names.insert(rejects.lowercased()).inserted { rejects = "\(sheet.index)-\(rejects)" }
      names.insert(rejects.lowercased())
      steps.append(
        Step(
          member: nil, name: SourceError.shown(sheet.name), entity: entity, rejects: rejects,
          job: FeedPart.prefix(of: request.job) + String(sheet.index), sheet: sheet.name))
    }
    guard steps.count <= Self.limit else {
      throw MappingError.badFeed(
        reason: "the workbook has \(steps.count) sheets of entities, more than \(Self.limit): split it")
    }
    guard !steps.isEmpty else {
      let found = sheets.chosen.map { SourceError.shown($0.name) }
      throw MappingError.badFeed(
        reason: "none of the workbook's sheets (\(Self.list(found))) is one of "
          + "\(Self.list(entities.map(\.name))): name them after the entities, or set mappedFileName in the entities' "
          + "user info")
    }
    try checkModes(request.options)
    try checkNew(order.unmatched, request.options)
    noteIgnored(order.unmatched.map(SourceError.shown))
    let hidden = sheets.left.filter(\.isHidden).map { SourceError.shown($0.name) }
    if request.options.reader.member == nil, !hidden.isEmpty {
      notes.append("ignored: \(Self.list(hidden)), hidden; name a sheet as member to import it")
    }
    noteMissing(entities)
    noteCycles(order)
    holdsEnds = !order.cycles.isEmpty || request.options.deletes
  }

  /// The Core Data store that the file is; nil if the options read a table of it, or it is none.
  private static func store(_ source: ImportSource, _ reader: ReaderOptions) throws -> CoreDataStore? {
    guard reader.format == nil || reader.format == .coreData, reader.table == nil, reader.query == nil else {
      return nil
    }
    let log = source.log?.descriptor
    if reader.format == nil, try !CoreDataStore.isStore(descriptor: source.descriptor, log: log) { return nil }
    return try CoreDataStore(descriptor: source.descriptor, log: log)
  }

  /// Each entity of a Core Data store is a step, read by a query of its own.
  private mutating func takeStore(
    _ store: CoreDataStore, _ request: ImportRequest, _ entities: [EntityDescription], _ model: ManagedObjectModel
  ) throws {
    // The selects' layout holds it; the queries outlive both.
    let own = try store.hasModel ? store.model(file: request.name, isKept: false) : nil
    if own == nil {
      notes.append("the store has no model in it, so its tables are taken to be those of the importing store's model")
    }
    var selects = try CoreDataSelects(store, own ?? model)
    var taken: [String: CoreDataSelects.Select] = [:]
    for entity in entities {
      let options = request.options.mapping.narrowed(to: entity)
      if let select = try selects.select(entity, options) { taken[entity.name] = select }
    }
    let files = entities.filter { taken[$0.name] != nil }.map { $0.userInfo[ImportOrder.fileNameKey] ?? $0.name }
    let order = ImportOrder(entities, files: files)
    for (index, step) in order.steps.enumerated() {
      guard let entity = entities.first(where: { $0.name == step.entity }) else { continue }
      steps.append(
        Step(
          member: nil, name: entity.name, entity: entity, rejects: entity.name + ".ndjson",
          job: FeedPart.prefix(of: request.job) + String(index), select: taken[entity.name]))
    }
    guard !steps.isEmpty else {
      throw MappingError.badFeed(
        reason:
          "none of the store's entities (\(Self.list(store.schema.modelEntities.map(\.name).sorted()))) is one of "
          + Self.list(entities.map(\.name)) + ": make a model for this store by “ladectl model convert --row-numbers”")
    }
    try checkModes(request.options)
    let known = Set(entities.flatMap { [$0.name, $0.definition.renamingIdentifier ?? $0.name] })
    let ignored = store.schema.modelEntities.map(\.name).filter { name in
      !known.contains(name) && (own ?? model).entitiesByName[name]?.isAbstract != true
    }
    try checkNew(ignored.sorted(), request.options)
    if !ignored.isEmpty {
      notes.append("ignored: \(Self.list(ignored.sorted())), which the importing store's model doesn't have")
    }
    noteMissing(entities)
    notes += selects.notes
    // Relationships to several objects, and those to objects of the same entity, may name rows that come later.
    holdsEnds = true
  }

  private mutating func takeFile(_ request: ImportRequest, _ entities: [EntityDescription]) throws {
    guard let step = ImportOrder(entities, files: [request.name]).steps.first,
      let entity = entities.first(where: { $0.name == step.entity })
    else {
      throw MappingError.badFeed(
        reason:
          "“\(SourceError.shown(request.name))” isn't an archive, and no entity has a file of that name: name it as one of "
          + "\(Self.list(entities.map(\.name))), or set mappedFileName in the user info of its entity")
    }
    target = entity.name
    steps = [
      Step(
        member: nil, name: SourceError.shown(request.name), entity: entity,
        rejects: RejectFolder.name(for: request.name, request.options.reader),
        job: FeedPart.prefix(of: request.job) + "0")
    ]
  }

  /// Splits the files into those that may hold records and the others: `stops.pdf` doesn't hold the stops.
  private static func separate(
    _ members: [ArchiveMember], _ options: ReaderOptions, _ entities: [EntityDescription]
  ) -> (known: [ArchiveMember], unknown: [ArchiveMember]) {
    let named = Set(entities.compactMap { $0.userInfo[ImportOrder.fileNameKey]?.lowercased() })
    func isKnown(_ member: ArchiveMember) -> Bool {
      let name = FileNames.last(of: member.name)
      return options.format != nil || FileFormats.standard.hasKnownEnding(name)
        || FileNames.base(of: name) == name || named.contains(name.lowercased())
    }
    return (members.filter(isKnown), members.filter { !isKnown($0) })
  }

  /// A mode that deletes what a file doesn't have allows one file for each entity.
  private func checkModes(_ options: ImportOptions) throws {
    guard let mode = options.mode, options.deletes else { return }
    for (name, steps) in Dictionary(grouping: steps, by: \.entity.name) where steps.count > 1 {
      throw MappingError.badFeed(
        reason:
          "\(Self.list(steps.map(\.name))) are all \(name)'s, and by \(mode.rawValue) each would take away what the "
          + "one before has brought: keep one of them, or use upsert")
    }
  }

  /// Refuses files of records that belong to no entity, where the recipe freezes entities.
  private mutating func checkNew(_ names: [String], _ options: ImportOptions) throws {
    unmatched = names
    guard options.mapping.schema.entities == .freeze, !names.isEmpty else { return }
    throw MappingError.newEntities(names: names)
  }

  private mutating func noteCycles(_ order: ImportOrder) {
    for cycle in order.cycles {
      notes.append("\(cycle.joined(separator: ", ")) refer to each other: what refers to a later one is set at the end")
    }
  }

  private mutating func noteIgnored(_ names: [String]) {
    guard !names.isEmpty else { return }
    notes.append("ignored: \(Self.list(names)), which no entity has a file for")
  }

  /// Notes entities that rows must refer to and that no file is there for.
  private mutating func noteMissing(_ entities: [EntityDescription]) {
    var noted: Set<String> = []
    for step in steps {
      for relationship in step.entity.relationships where !relationship.isOptional && !relationship.isToMany {
        let destination = relationship.destinationEntity
        guard !steps.contains(where: { $0.entity.isKindOf(destination) }), noted.insert(destination.name).inserted
        else { continue }
        notes.append("there is no file for \(destination.name), which every \(step.entity.name) needs one of")
      }
    }
  }

  private static func noSteps(_ names: [String], _ entities: [EntityDescription]) -> MappingError {
    .badFeed(
      reason: names.isEmpty
        ? "the archive contains no files that is asked for"
        : "none of the archive's files (\(list(names.map(SourceError.shown)))) is one of "
          + "\(list(entities.map(\.name))): name them after the entities, or set mappedFileName in the entities' user info"
    )
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(shown).joined(separator: ", ") + (names.count > shown ? ", …" : "")
  }
}

// A rule of a feed's recipe applies to every entity with a property of that name, or, written `Entity.property`, to one
// entity.

extension MappingOptions {
  /// The rules for one entity of a feed.
  package func narrowed(to entity: EntityDescription) -> MappingOptions {
    var narrow = self
    narrow.properties = properties.filter { Self.isProperty($0.key, of: entity) }
    for (name, rule) in properties where name.hasPrefix(entity.name + ".") {
      narrow.properties[String(name.dropFirst(entity.name.count + 1))] = rule
    }
    return narrow
  }

  /// Refuses a rule for a property that none of the feed's entities has, a rule for one entity that it can't follow, and
  /// options that fit none of the entities.
  /// - Throws: ``MappingError``.
  package func check(ofFeed entities: [EntityDescription]) throws(MappingError) {
    guard key.isEmpty else {
      throw MappingError.badFeed(
        reason: "key names attributes of one entity, and the files belong to several: leave it out, and add uniqueness "
          + "constraints to the model or a recipe for each entity")
    }
    let unknown = properties.keys.filter { name in
      !entities.contains { Self.isProperty(name, of: $0) || name.hasPrefix($0.name + ".") }
    }
    guard unknown.isEmpty else {
      throw MappingError.badFeed(
        reason: "none of the entities (\(entities.map(\.name).joined(separator: ", "))) has a "
          + unknown.sorted().joined(separator: ", ") + ", which the recipe names")
    }
    for entity in entities { try narrowed(to: entity).checkEvolution(into: entity) }
    var failure: MappingError?
    var fitting = 0
    for entity in entities {
      var ofIt = MappingOptions()
      ofIt.properties = properties.filter { $0.key.hasPrefix(entity.name + ".") }
      if !ofIt.properties.isEmpty { try ofIt.narrowed(to: entity).check(against: entity) }
      do throws(MappingError) {
        try narrowed(to: entity).check(against: entity)
        fitting += 1
      } catch {
        failure = failure ?? error
      }
    }
    // Options for all entities, such as a filter, need not fit an entity that no file belongs to.
    if fitting == 0, let failure { throw failure }
  }

  private static func isProperty(_ name: String, of entity: EntityDescription) -> Bool {
    let first = name.split(separator: ".").first.map(String.init) ?? name
    return entity.propertiesByName[first] != nil
  }
}
