import ManagedObjects

/// What is imported of a file that holds several entities' records, and in what order.
struct FeedPlan {
  /// One file, or member of an archive.
  struct Step {
    let member: ArchiveMember?
    /// The member's name, fit to be shown, or the file's.
    let name: String
    let entity: EntityDescription
    /// The name of its reject file.
    let rejects: String
    /// What names its checkpoint.
    let job: String
  }

  private(set) var steps: [Step] = []
  /// Whether what is done at the end of a member has to wait until all of them are in: because entities refer to each other
  /// in a ring, or because what a member deletes may be needed by rows that a later member deletes.
  private(set) var holdsEnds = false
  /// What is to be said of the rest.
  private(set) var notes: [String] = []

  /// What ``ImportRequest/feed`` means for a file.
  private(set) var target = ImportRequest.feed

  private static let shown = 20
  /// Each file has a checkpoint, and stands in the job's note.
  private static let limit = 1_000

  /// - Throws: ``MappingError/badFeed(reason:)`` when none of the files is an entity's, or two are of one that gives way to
  ///   each of them; `ReaderError` when the archive can't be listed.
  init(_ source: ImportSource, _ request: ImportRequest, _ entities: [EntityDescription]) throws {
    let reader = request.options.reader
    guard
      let archive = try SourceArchive(fileDescriptor: source.descriptor, name: request.name, options: reader)
    else {
      try takeFile(request, entities)
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
    noteIgnored(ignored)
    noteMissing(entities)
    for cycle in order.cycles {
      notes.append("\(cycle.joined(separator: ", ")) refer to each other: what refers to a later one is set at the end")
    }
    holdsEnds = !order.cycles.isEmpty || request.options.deletes
  }

  private mutating func takeFile(_ request: ImportRequest, _ entities: [EntityDescription]) throws {
    guard let step = ImportOrder(entities, files: [request.name]).steps.first,
      let entity = entities.first(where: { $0.name == step.entity })
    else {
      throw MappingError.badFeed(
        reason:
          "“\(SourceError.shown(request.name))” is no archive, and no entity has a file of that name: name it as one of "
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

  /// Files that may hold records, and those that are passed over: a `stops.pdf` isn't the stops.
  private static func separate(
    _ members: [ArchiveMember], _ options: ReaderOptions, _ entities: [EntityDescription]
  ) -> (known: [ArchiveMember], unknown: [ArchiveMember]) {
    let named = Set(entities.compactMap { $0.userInfo[ImportOrder.fileNameKey]?.lowercased() })
    func isKnown(_ member: ArchiveMember) -> Bool {
      let name = FileNames.last(of: member.name)
      return options.format != nil || SourceFormat(fileName: SourceCompression.ofName(name)?.inner ?? name) != nil
        || FileNames.base(of: name) == name || named.contains(name.lowercased())
    }
    return (members.filter(isKnown), members.filter { !isKnown($0) })
  }

  /// In modes where the objects give way to the file there can be but one file.
  private func checkModes(_ options: ImportOptions) throws {
    guard let mode = options.mode, options.deletes else { return }
    for (name, steps) in Dictionary(grouping: steps, by: \.entity.name) where steps.count > 1 {
      throw MappingError.badFeed(
        reason:
          "\(Self.list(steps.map(\.name))) are all \(name)'s, and by \(mode.rawValue) each would take away what the "
          + "one before has brought: keep one of them, or use upsert")
    }
  }

  private mutating func noteIgnored(_ names: [String]) {
    guard !names.isEmpty else { return }
    notes.append("ignored: \(Self.list(names)), which no entity has a file for")
  }

  /// Tells of entities that rows must refer to and that no file is there for.
  private mutating func noteMissing(_ entities: [EntityDescription]) {
    var told: Set<String> = []
    for step in steps {
      for relationship in step.entity.relationships where !relationship.isOptional && !relationship.isToMany {
        let destination = relationship.destinationEntity
        guard !steps.contains(where: { $0.entity.isKindOf(destination) }), told.insert(destination.name).inserted
        else { continue }
        notes.append("there is no file for \(destination.name), which every \(step.entity.name) needs one of")
      }
    }
  }

  private static func noSteps(_ names: [String], _ entities: [EntityDescription]) -> MappingError {
    .badFeed(
      reason: names.isEmpty
        ? "the archive has no file in it that is asked for"
        : "none of the archive's files (\(list(names.map(SourceError.shown)))) is one of "
          + "\(list(entities.map(\.name))): name them after the entities, or set mappedFileName in the entities' user info"
    )
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(shown).joined(separator: ", ") + (names.count > shown ? ", …" : "")
  }
}
