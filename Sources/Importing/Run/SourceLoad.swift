import Foundation
import ManagedObjects

/// Loads the records of one open source into the objects of one entity, batch by batch, from a checkpoint to the end.
///
/// Belongs to the import's thread. While ``run(_:)`` is working, the reader belongs to the thread of the pipeline.
final class SourceLoad {
  private let request: ImportRequest
  private let part: FeedPart?
  private let source: ImportSource
  private let opened: OpenedSource
  private let entity: EntityDescription
  private let mode: ImportMode
  private let coordinator: PersistentStoreCoordinator
  /// Where this run begins.
  private let begin: ImportCheckpoint
  private let rejects: RejectFile
  private let limits: RejectLimits
  private let indexes: PostponedIndexes
  private let writer: BatchWriter
  private let lineage: LineageRecorder?
  /// Columns to properties. A source whose records may nest shows its columns batch by batch.
  private var mapping: RecordMapping
  private var bytesDone: Int64
  private let bytesTotal: Int64

  /// Prepares a load, and fails if no record of the source could ever become an object.
  /// - Parameter protected: see ``ProtectedObjects``.
  init(
    _ request: ImportRequest, _ part: FeedPart?, _ source: ImportSource, _ known: KnownFile?,
    of entity: EntityDescription, in context: ManagedObjectContext, _ store: PersistentStore,
    from begin: ImportCheckpoint, largeLoad: Int64, protected: Set<Int64>, _ digest: SourceDigest?
  ) throws {
    let options = request.options
    let position = begin.position == .start ? nil : begin.position
    let opened: OpenedSource
    do {
      opened = try request.makeInterruption().limit {
        try openSource(
          fileDescriptor: source.descriptor, name: request.name, options: options.reader, member: part?.member,
          log: source.log?.descriptor, isMoved: request.isMoved, hasTrailer: part?.hasTrailer ?? false, from: position)
      }
    } catch let error as ReaderError {
      throw options.mapping.masks(into: entity) ? error.withoutNames : error
    }
    let reader = opened.reader
    let isTabular = opened.isTabular
    let mapping = try RecordMapping(
      entity, columns: reader.columns, options: options.mapping, mayNest: !isTabular,
      keys: MaskKeys(request.credentials))
    try options.checkKey(for: entity)
    let mode = options.effectiveMode(for: entity)
    // A tabular source shows all of its columns at once.
    if isTabular { try mapping.checkNotEmpty() }
    if mode.needsKey, isTabular || mapping.rules.identities.isEmpty { try mapping.checkKey(mode) }
    rejects = try RejectFile(
      path: request.rejects.path, form: reader.rejectForm,
      isMarked: options.reader.mayReadUTF8AsAnother, length: begin.rejectsLength,
      copy: request.rejectCopy.map {
        RejectFileCopy($0, name: Self.copyName(of: request.rejects, isMember: part != nil))
      })
    self.request = request
    self.part = part
    self.source = source
    self.opened = opened
    self.entity = entity
    self.mode = mode
    self.begin = begin
    self.mapping = mapping
    coordinator = context.persistentStoreCoordinator
    limits = RejectLimits(options)
    indexes = PostponedIndexes(of: entity, in: store, largeLoad: largeLoad, options)
    lineage = LineageScope(options.lineage, of: entity, in: context.model).map { scope in
      LineageRecorder(
        context, job: request.job, request.origin,
        LineageSource(
          name: request.name, inside: opened.detection.member ?? options.reader.member ?? "", entity: entity.name),
        scope, masked: mapping.rules.isMasking ? MaskedAttributes(mapping.rules.masks, of: entity) : nil)
    }
    writer = BatchWriter(
      BatchTarget(
        context, mapping.rules, mode, job: request.job, options, protected: protected, lineage: lineage,
        examples: request.examples), rejects,
      from: begin, known: known, cursor: request.cursor, digest: digest,
      try request.retry.map { try RejectResolution($0) })
    bytesDone = position == nil ? 0 : reader.bytesRead
    bytesTotal = reader.bytesTotal
  }

  /// What the copy of a reject file is called: as the file is, from the folder of all reject files on.
  private static func copyName(of file: URL, isMember: Bool) -> String {
    let name = file.lastPathComponent
    return isMember ? file.deletingLastPathComponent().lastPathComponent + "/" + name : name
  }

  /// Reads, converts and writes batch after batch. Postponed indexes are rebuilt however it ends.
  func run(_ control: ImportControl) throws -> ImportEnd {
    do {
      return try indexes.rebuilt { try loadBatches(control) }
    } catch let error as SupersededSave {
      // The reject file is that of another claimant now.
      throw error
    } catch {
      do {
        try writer.dropUnsavedRejects()
      } catch {
        // The failure before counts. Another run cuts them off, and so does the job's end.
      }
      throw error
    }
  }

  private func loadBatches(_ control: ImportControl) throws -> ImportEnd {
    let first = progress
    let pipeline = BatchPipeline(
      reader: opened.reader, mapping: mapping, mode: mode, batchSize: request.options.batchSize,
      coordinator: coordinator, hash: lineage.flatMap { $0.contains(entity) ? $0.hash(of: entity) : nil },
      isRetry: request.retry != nil, interruption: request.makeInterruption())
    defer { pipeline.stop() }
    control.report(first)
    // An earlier run may have been killed just before it failed for this.
    try checkLimits()
    var isFirst = begin.position == .start
    while !control.shouldStop() {
      let next: ConvertedBatch?
      do {
        next = try pipeline.next()
      } catch is Interrupted {
        return try stopped(first)
      }
      guard let batch = next else {
        return try control.shouldStop() ? stopped(first) : finish(first, control)
      }
      mapping = batch.mapping
      if isFirst, batch.hasRows { try checkMapping() }
      isFirst = false
      try writer.write(batch)
      bytesDone = batch.bytesRead
      pipeline.recycle(batch, writer.takeDetachedObjects())
      control.report(progress)
      if mapping.looksAmongItsOwn { indexes.keep() }
      try indexes.decide(
        records: writer.checkpoint.counts.records - first.counts.records, in: bytesDone - first.bytesDone,
        of: bytesTotal - first.bytesDone)
      try checkLimits()
    }
    return try stopped(first)
  }

  private func finish(_ first: ImportProgress, _ control: ImportControl) throws -> ImportEnd {
    try checkLimits(atEnd: true)
    // Fails if the source has changed while it was read.
    _ = try begin.identified(as: source)
    if part?.holdsEnd == true { return .finished(progress, .committed, notes: []) }
    try indexes.rebuild()
    let notes = try writer.finish(bytes: bytesTotal, shouldStop: control.shouldStop) {
      try checkLimits(atEnd: true)
    } judge: {
      guard part == nil else { return }
      do {
        try limits.checkTaken(writer.checkpoint.counts, first: writer.firstRejection)
      } catch {
        // Records that waited for others have been rejected since the last report.
        control.report(progress)
        throw error
      }
    }
    guard let notes else { return try stopped(first) }
    bytesDone = bytesTotal
    return .finished(progress, .committed, notes: sourceNotes + notes + mappingNotes)
  }

  /// - Parameter first: the progress when this run began. An import of a whole file is back there.
  private func stopped(_ first: ImportProgress) throws -> ImportEnd {
    guard request.options.isWhole else { return .stopped(progress) }
    try rejects.truncate(to: begin.rejectsLength)
    return .stopped(first)
  }

  private var progress: ImportProgress {
    ImportProgress(counts: writer.checkpoint.counts, bytesDone: bytesDone, bytesTotal: bytesTotal)
  }

  // MARK: Checks

  /// Refuses a source none of whose records could become an object.
  private func checkMapping() throws {
    try mapping.checkNotEmpty()
    if mode.needsKey { try mapping.checkKey(mode) }
  }

  /// The counts of a feed's other members count too. Its share of rejects is that of all its records, so it isn't judged at
  /// the end of one member.
  private func checkLimits(atEnd: Bool = false) throws {
    try limits.check(
      (part?.others ?? ImportCounts()) + writer.checkpoint.counts, first: writer.firstRejection,
      atEnd: atEnd && part == nil)
  }

  // MARK: Notes

  private var sourceNotes: [String] {
    let isMember = part != nil && opened.detection.member != nil
    // The feed itself says which member this was.
    return Array(opened.detection.notes.dropFirst(isMember ? 1 : 0))
  }

  private var mappingNotes: [String] {
    var notes: [String] = []
    let term = request.options.mapping.schema.columns
    // Where the model evolves, columns without values are left.
    if term == .discardValue || term == .evolve, !mapping.ignored.isEmpty {
      notes.append(
        "ignored column(s) that \(entity.name) doesn't have: \(MappingError.list(mapping.shown(mapping.ignored)))"
          + mapping.ignoredSpellings)
    }
    for (attribute, count) in writer.checkpoint.counts.leftOut.sorted(by: { $0.key < $1.key }) {
      notes.append("left out \(count) value(s) that don't fit \(attribute), as the recipe's schema says")
    }
    if !mapping.mayNest, !mapping.absent.isEmpty {
      notes.append("the file has no column(s) \(mapping.absent.joined(separator: ", ")), which the recipe names")
    }
    if !mapping.mayNest, !mapping.unansweredFilter.isEmpty {
      notes.append(
        "the filter asks for \(MappingError.list(mapping.unansweredFilter)), which the file has no column for")
    }
    if let advice = mapping.keyAdvice { notes.append(advice) }
    if writer.checkpoint.counts.records == 0 { notes.append("the file has no records") }
    return notes
  }
}
