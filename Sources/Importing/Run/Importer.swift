// One import, from an open file to objects in a store:
//
//   reader ─▶ RecordBatch ─▶ ConvertedBatch ─▶ objects ─▶ save: rows + checkpoint, one transaction
//   (a thread of its own)                      (the caller's thread)
//                    └ rejected records ─▶ reject file, on the disk before the checkpoint that counts them
//
// An import by file does the same within one transaction: see Importer+Whole.

package import Foundation
import Glibc
package import ManagedObjects

/// What an import is to do.
package struct ImportRequest: Sendable {
  /// What names the job in its checkpoint: never the same for two jobs.
  package var job: String
  /// The file, which nobody changes meanwhile.
  package var source: URL
  /// A descriptor of that file, open as long as the import runs; nil to open it by its path.
  package var descriptor: Int32?
  /// The file's name as it was submitted, whose ending may tell the format.
  package var name: String
  /// The entity that the records become, or ``feed``.
  package var entity: String
  package var options: ImportOptions
  /// Where rejected records go: a file, and of a ``feed`` a folder with a file for each member that has some.
  package var rejects: URL
  /// In the place of an entity: each file of an archive goes into the entity that it belongs to, in the order of their
  /// references. A file that is no archive goes into the entity of its name.
  package static let feed = "*"

  package init(
    job: String, source: URL, name: String, entity: String, options: ImportOptions, rejects: URL
  ) {
    self.job = job
    self.source = source
    self.name = name
    self.entity = entity
    self.options = options
    self.rejects = rejects
  }
}

/// How an import stands, after a batch or at its end.
package struct ImportProgress: Sendable, Hashable {
  package var counts: ImportCounts
  package var bytesDone: Int64
  package var bytesTotal: Int64
}

/// How an import ended.
package enum ImportEnd: Sendable, Hashable {
  /// Everything is in the store, and safe from a loss of power; of a dry run nothing is, and the rest is as if. The notes
  /// are for a person.
  case finished(ImportProgress, notes: [String])
  /// Stopped between two batches because the caller said so; to be gone on with by another run. An import by file has
  /// committed nothing then, and says so.
  case stopped(ImportProgress)
}

/// Runs imports. Blocks its thread; to be called from an operation's `main()`.
package struct Importer {
  let coordinator: PersistentStoreCoordinator
  var request: ImportRequest
  /// A load of so many records or more may go on without the indexes that it doesn't need itself.
  let largeLoad: Int64
  /// What it is a part of, if it is one.
  var part: FeedPart?

  package init(coordinator: PersistentStoreCoordinator, request: ImportRequest, largeLoad: Int64 = 100_000) {
    self.coordinator = coordinator
    self.request = request
    self.largeLoad = largeLoad
  }

  /// Imports the source, from where an earlier run of the same job was stopped or killed.
  ///
  /// - Parameters:
  ///   - context: a context of the calling thread, used for nothing else.
  ///   - shouldStop: asked before each batch.
  ///   - report: told after each batch.
  /// - Throws: ``MappingError``, ``ReaderError``, or the store's error. What was committed stays: of an import by file,
  ///   nothing was; the last report says so, and the reject file is there to be looked at.
  package func run(
    in context: ManagedObjectContext, shouldStop: () -> Bool, report: (ImportProgress) -> Void
  ) throws -> ImportEnd {
    context.announcesChanges = false
    do {
      return try runToTheEnd(in: context, shouldStop, report)
    } catch is KnownFile.Stopped {
      let begun = try ImportCheckpoint.read(request.job, in: context)
      context.reset()
      let total = ImportSource.length(of: request.source) ?? 0
      return .stopped(ImportProgress(counts: begun?.counts ?? ImportCounts(), bytesDone: 0, bytesTotal: total))
    }
  }

  private func runToTheEnd(
    in context: ManagedObjectContext, _ shouldStop: () -> Bool, _ report: (ImportProgress) -> Void
  ) throws -> ImportEnd {
    if request.entity == ImportRequest.feed {
      return try FeedImport(self, in: context).run(shouldStop: shouldStop, report: report)
    }
    let begun = try ImportCheckpoint.read(request.job, in: context)
    var checkpoint = begun ?? ImportCheckpoint()
    context.reset()
    let entity = try targetEntity()
    if checkpoint.isFinished { return try alreadyFinished(entity, checkpoint) }
    let source = try ImportSource(request.source, descriptor: request.descriptor)
    let identity = try source.identity()
    if checkpoint.identity.isEmpty { checkpoint.identity = identity }
    guard checkpoint.identity == identity else {
      throw MappingError.sourceChanged(was: checkpoint.identity, is: identity)
    }
    let known = try knownFile(source, into: entity.name, shouldStop)
    if begun == nil, let note = try known?.earlier(in: context) { return ended(note) }
    let opened = try openSource(
      fileDescriptor: source.descriptor, name: request.name, options: request.options.reader, member: part?.member,
      from: checkpoint.position == .start ? nil : checkpoint.position)
    let store = try coordinator.store(of: entity)
    let indexes = PostponedIndexes(of: entity, in: store, largeLoad: largeLoad, request.options)
    let last = LastReport()
    let end = try inOneTransaction(of: store, checkpoint, last, report) {
      try indexes.made {
        try load(source, known, opened, entity, checkpoint, context, indexes, shouldStop) { progress in
          last.progress = progress
          report(progress)
        }
      }
    }
    if case .finished = end, !request.options.isDryRun, part == nil { try store.synchronize() }
    return end
  }

  private func load(
    _ source: ImportSource, _ known: KnownFile?, _ opened: OpenedSource, _ entity: EntityDescription,
    _ checkpoint: ImportCheckpoint, _ context: ManagedObjectContext, _ indexes: PostponedIndexes,
    _ shouldStop: () -> Bool, _ report: (ImportProgress) -> Void
  ) throws -> ImportEnd {
    let reader = opened.reader
    var mapping = try RecordMapping(
      entity, columns: reader.columns, options: request.options.mapping,
      mayNest: !(reader is CSVReader || reader is FixedWidthReader || reader is SQLiteReader))
    // Such a source's columns are known from the beginning.
    let isTabular = !mapping.mayNest
    if isTabular { try mapping.checkNotEmpty() }
    let mode = request.options.mode ?? (entity.uniquenessConstraints.isEmpty ? .insert : .upsert)
    if mode.needsKey, isTabular || entity.uniquenessConstraints.isEmpty { try mapping.checkKey(mode) }
    let rejects = try RejectFile(
      path: request.rejects.path, form: rejectForm(of: opened, request.options.reader),
      isMarked: request.options.reader.mayReadUTF8AsAnother, length: checkpoint.rejectsLength)
    let writer = BatchWriter(
      context: context, entity: entity, mode: mode, job: request.job, rejects: rejects, checkpoint: checkpoint,
      batchSize: request.options.batchSize, rules: mapping.rules,
      allowsEmpty: request.options.allowsEmpty)
    writer.known = known
    var done = checkpoint.position == .start ? 0 : reader.bytesRead
    let total = reader.bytesTotal
    // From here on the reader is another thread's.
    let pipeline = BatchPipeline(
      reader: reader, mapping: mapping, mode: mode, batchSize: request.options.batchSize, coordinator: coordinator)
    defer { pipeline.stop() }
    func progress() -> ImportProgress {
      ImportProgress(counts: writer.checkpoint.counts, bytesDone: done, bytesTotal: total)
    }
    let begin = progress()
    func stopped() throws -> ImportEnd {
      guard request.options.isWhole else { return .stopped(progress()) }
      try rejects.truncate(to: checkpoint.rejectsLength)
      return .stopped(begin)
    }
    report(begin)
    // It may have been killed just before it said so.
    try checkRejects(writer)
    var isFirst = checkpoint.position == .start
    while true {
      if shouldStop() { return try stopped() }
      guard let batch = try pipeline.next() else { break }
      mapping = batch.mapping
      if isFirst, batch.hasRows {
        try mapping.checkNotEmpty()
        if mode.needsKey { try mapping.checkKey(mode) }
      }
      isFirst = false
      try writer.write(batch)
      done = batch.bytesRead
      pipeline.recycle(batch, writer.takeRemains())
      report(progress())
      if mapping.looksAmongItsOwn { indexes.keep() }
      try indexes.look(
        records: writer.checkpoint.counts.records - begin.counts.records, in: done - begin.bytesDone,
        of: total - begin.bytesDone)
      try checkRejects(writer)
    }
    if shouldStop() { return try stopped() }
    try checkRejects(writer, atEnd: true)
    let identity = try source.identity()
    guard identity == checkpoint.identity else {
      throw MappingError.sourceChanged(was: checkpoint.identity, is: identity)
    }
    if part?.holdsEnd == true { return .finished(progress(), notes: []) }
    try indexes.make()
    guard
      var notes = try writer.finish(of: total, shouldStop: shouldStop, told: { try checkRejects(writer, atEnd: true) })
    else {
      return try stopped()
    }
    done = total
    let isMember = part != nil && opened.detection.member != nil
    // Of a part, which member it is is told by the whole.
    notes.insert(contentsOf: opened.detection.notes.dropFirst(isMember ? 1 : 0), at: 0)
    if request.options.mapping.unknownColumns == .warn, !mapping.ignored.isEmpty {
      notes.append("ignored column(s) that \(entity.name) doesn't have: \(MappingError.list(mapping.ignored))")
    }
    if isTabular, !mapping.absent.isEmpty {
      notes.append("the file has no column(s) \(mapping.absent.joined(separator: ", ")), which the recipe names")
    }
    if isTabular, !mapping.unansweredFilter.isEmpty {
      notes.append(
        "the filter asks for \(MappingError.list(mapping.unansweredFilter)), which the file has no column for")
    }
    if writer.checkpoint.counts.records == 0 { notes.append("the file has no records") }
    return .finished(progress(), notes: notes)
  }

  /// The end of a job that had finished when it was killed before the queue heard of it.
  private func alreadyFinished(_ entity: EntityDescription, _ checkpoint: ImportCheckpoint) throws -> ImportEnd {
    try coordinator.store(of: entity).synchronize()
    return .finished(ImportProgress(ended: checkpoint, of: request.source), notes: [])
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
        reason: "it isn't in the store that keeps how far imports have come, so the two couldn't "
          + "be saved together: put both in one configuration of the model")
    }
    return entity
  }

  /// A share is that of something only when there are some records.
  private static let fewRecords = 1_000

  private func checkRejects(_ writer: BatchWriter, atEnd: Bool = false) throws {
    // The share of a feed is that of all its records, so not of those of its first members alone.
    try checkRejects(
      (part?.others ?? ImportCounts()) + writer.checkpoint.counts, first: writer.firstRejection,
      atEnd: atEnd && part == nil)
  }

  func checkRejects(_ counts: ImportCounts, first: String, atEnd: Bool) throws {
    if let limit = request.options.rejectLimit, counts.rejected > limit {
      throw MappingError.tooManyRejects(count: counts.rejected, limit: limit, first: first)
    }
    if let share = request.options.rejectShare, atEnd || counts.records >= Self.fewRecords,
      Double(counts.rejected) > share * Double(counts.records)
    {
      throw MappingError.tooLargeShareRejected(
        count: counts.rejected, records: counts.records, share: share, first: first)
    }
  }
}
