// One import, from an open file to objects in a store:
//
//   read ──▶ convert ──▶ apply ──▶ save: rows + checkpoint in one transaction (rule 3, ARCHITECTURE.md)
//    │          │          │
//    │          └──────────┴─ rejected records ──▶ reject file, durable before the checkpoint that counts them (rule 7, ARCHITECTURE.md)
//    │
//   RecordReader ─▶ RecordBatch ─▶ ConvertedBatch ─▶ objects of the context ─▶ store
//   └── BatchPipeline: a thread of its own ──┘        └── BatchWriter: the caller's thread ──┘
//
// `Importer` opens the source and decides where to begin, `SourceLoad` runs the loop above, `WholeFileTransaction` puts it
// into one transaction, and `FeedImport` runs one import for each file of an archive.

package import ManagedObjects

/// Runs imports. Blocks its thread; call it from an operation's `main()`.
package struct Importer {
  package let coordinator: PersistentStoreCoordinator
  package let request: ImportRequest
  /// A load of at least this many records may drop the indexes that it doesn't need itself.
  private let largeLoad: Int64
  /// The feed that this import is a part of.
  private let part: FeedPart?
  /// What earlier passes over the source found out; a feed's members share it.
  let protected: ProtectedObjects

  package init(coordinator: PersistentStoreCoordinator, request: ImportRequest, largeLoad: Int64 = 100_000) {
    var request = request
    if request.options.isDryRun {
      request.options.mapping.schema = request.options.mapping.schema.withoutEvolution
    }
    self.init(coordinator, request, largeLoad, part: nil, ProtectedObjects())
  }

  private init(
    _ coordinator: PersistentStoreCoordinator, _ request: ImportRequest, _ largeLoad: Int64, part: FeedPart?,
    _ protected: ProtectedObjects
  ) {
    self.coordinator = coordinator
    self.request = request
    self.largeLoad = largeLoad
    self.part = part
    self.protected = protected
  }

  /// The import of one member of the feed that this importer imports.
  func importer(of member: ImportRequest, as part: FeedPart) -> Importer {
    Importer(coordinator, member, largeLoad, part: part, protected)
  }

  /// Imports the source, from where an earlier run of the same job was stopped or killed.
  ///
  /// - Parameters:
  ///   - context: a context of the calling thread, used for nothing else.
  ///   - shouldStop: asked before each batch.
  ///   - report: called after each batch.
  /// - Throws: ``MappingError``, ``ReaderError``, or the store's error. What was committed stays. An import of a whole file
  ///   has committed nothing then: its last report says so, and its reject file remains to be looked at.
  package func run(
    in context: ManagedObjectContext, shouldStop: () -> Bool, report: (ImportProgress) -> Void
  ) throws -> ImportEnd {
    try withoutActuallyEscaping(shouldStop) { shouldStop in
      try withoutActuallyEscaping(report) { report in
        try run(in: context, ImportControl(shouldStop: shouldStop, report: report))
      }
    }
  }

  func run(in context: ManagedObjectContext, _ control: ImportControl) throws -> ImportEnd {
    context.announcesChanges = false
    do {
      if request.entity == ImportRequest.feed { return try FeedImport(self, in: context).run(control) }
      return try importFile(in: context, control)
    } catch is KnownFile.Stopped {
      let begun = try ImportCheckpoint.read(request.job, in: context)
      context.reset()
      let total = ImportSource.length(of: request.source) ?? 0
      return .stopped(ImportProgress(counts: begun?.counts ?? ImportCounts(), bytesDone: 0, bytesTotal: total))
    }
  }

  private func importFile(in context: ManagedObjectContext, _ control: ImportControl) throws -> ImportEnd {
    let begun = try ImportCheckpoint.read(request.job, in: context)
    context.reset()
    let entity = try targetEntity()
    let store = try coordinator.store(of: entity)
    if let begun, begun.isFinished {
      // The job was killed after its last commit, before the queue recorded its end.
      try store.synchronize()
      return .finished(ImportProgress(ended: begun, of: request.source), .committed, notes: [])
    }
    let source = try ImportSource(request.source, descriptor: request.descriptor)
    let checkpoint = try (begun ?? ImportCheckpoint()).identified(as: source)
    let known = try knownFile(source, into: entity.name, control)
    if begun == nil, let note = try known?.earlierImport(in: context) { return skipped(note) }
    let digest = try digest(source, into: [entity], known)
    defer { digest?.cancel() }
    let load = { (control: ImportControl) throws -> ImportEnd in
      try SourceLoad(
        request, part, source, known, of: entity, in: context, store, from: checkpoint, largeLoad: largeLoad,
        protected: protected.of(request.job), digest
      ).run(control)
    }
    let end =
      if request.options.isWhole, part == nil {
        try WholeFileTransaction(
          coordinator: coordinator, store: store, isDryRun: request.options.isDryRun, protected: protected
        ).run(from: checkpoint, control, load)
      } else {
        try load(control)
      }
    if case .finished = end, !request.options.isDryRun, part == nil { try store.synchronize() }
    return end
  }

  /// The file, if the options ask to recognise files imported before; nil otherwise, which costs nothing.
  ///
  /// - Throws: ``KnownFile/Stopped`` when `shouldStop` returned true. Reading a file takes a while.
  func knownFile(_ source: any IdentifiedSource, into target: String, _ control: ImportControl) throws -> KnownFile? {
    guard request.options.skipsKnownFiles, part == nil else { return nil }
    return try KnownFile(source, into: target, request, shouldStop: control.shouldStop)
  }

  /// The hash of the file, where it is recorded which rows come from it; nil otherwise, which costs nothing.
  func digest(
    _ source: any IdentifiedSource, into entities: [EntityDescription], _ known: KnownFile?
  ) throws -> SourceDigest? {
    guard part == nil,
      entities.contains(where: { LineageScope(request.options.lineage, of: $0, in: coordinator.model) != nil })
    else { return nil }
    return known.map { SourceDigest(known: $0.digest) } ?? SourceDigest(source)
  }

  /// The end of an import of a file that was imported before.
  func skipped(_ note: String) -> ImportEnd {
    let total = ImportSource.length(of: request.source) ?? 0
    return .finished(
      ImportProgress(counts: ImportCounts(), bytesDone: total, bytesTotal: total), .committed, notes: [note])
  }

  private func targetEntity() throws -> EntityDescription {
    guard let entity = coordinator.model.entitiesByName[request.entity],
      !ImportModel.entities.contains(entity.name)
    else {
      let known = coordinator.model.entities.map(\.name).filter { !ImportModel.entities.contains($0) }
      throw MappingError.unknownEntity(name: request.entity, known: known)
    }
    guard !entity.isAbstract else { throw MappingError.abstractEntity(entity.name) }
    if let checkpoints = coordinator.model.entitiesByName[ImportModel.checkpointEntity],
      try coordinator.store(of: checkpoints) !== coordinator.store(of: entity)
    {
      throw MappingError.badAttribute(
        entity: entity.name,
        reason: "it isn't in the store that keeps the checkpoints of imports, so rows and checkpoint couldn't be saved "
          + "together: put both in one configuration of the model")
    }
    return entity
  }
}
