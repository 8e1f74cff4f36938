// Rules 3 and 4 of the design, for a file that holds several entities' records. It is one import a member, each with a
// checkpoint of its own, which says how far it has come, and one for the whole, which is written first, with what the file
// looks like, and is finished last. So a member that is finished isn't read again after a kill, and one that isn't is gone
// on with. By file, all of it is in one transaction.
//
// Where a member's end has to wait (see FeedPlan), members are all read first, and their ends come then, the last one's
// first: the same imports are run again from where they stopped, which is the end of their members.
//
// Members of a zip are gone to; a tar is read from its beginning for each, since it has no directory.

import ManagedObjects

/// The import of a feed. On one thread.
final class FeedImport {
  private let importer: Importer
  private let context: ManagedObjectContext
  private let request: ImportRequest
  private let folder: RejectFolder
  /// A job's note is for a person.
  private static let shownNotes = 200
  /// Of each step of the plan.
  private var counts: [ImportCounts] = []
  private var bytes: [(done: Int64, total: Int64)] = []
  private var notes: [[String]] = []
  private var isEmpty: [Bool] = []

  init(_ importer: Importer, in context: ManagedObjectContext) {
    self.importer = importer
    self.context = context
    request = importer.request
    folder = RejectFolder(url: importer.request.rejects)
  }

  /// As ``Importer/run(in:shouldStop:report:)``.
  func run(shouldStop: () -> Bool, report: (ImportProgress) -> Void) throws -> ImportEnd {
    guard let checkpoints = importer.coordinator.model.entitiesByName[ImportModel.checkpointEntity] else {
      throw MappingError.unknownEntity(name: ImportModel.checkpointEntity, known: [])
    }
    let store = try importer.coordinator.store(of: checkpoints)
    let begun = try ImportCheckpoint.read(request.job, in: context)
    context.reset()
    if let begun, begun.isFinished {
      try folder.removeIfEmpty()
      try store.synchronize()
      return .finished(ImportProgress(ended: begun, of: request.source), notes: [])
    }
    let source = try ImportSource(request.source, descriptor: request.descriptor)
    var checkpoint = begun ?? ImportCheckpoint()
    let identity = try source.identity()
    if begun == nil { checkpoint.identity = identity }
    guard checkpoint.identity == identity else {
      throw MappingError.sourceChanged(was: checkpoint.identity, is: identity)
    }
    let plan = try FeedPlan(source, request, entities(of: store))
    try request.options.mapping.check(ofFeed: plan.steps.map(\.entity))
    let known = try importer.knownFile(source, into: plan.target, shouldStop)
    if begun == nil, let note = try known?.earlier(in: context) { return importer.ended(note) }
    try folder.make()
    let last = LastReport()
    let end = try importer.inOneTransaction(of: store, ImportCheckpoint(), last, report) {
      if begun == nil {
        try checkpoint.write(to: ImportCheckpoint.object(request.job, in: context))
        try context.save()
        context.reset()
      }
      return try load(plan, &checkpoint, known, shouldStop) { progress in
        last.progress = progress
        report(progress)
      }
    }
    switch end {
    case .finished:
      try folder.removeIfEmpty()
      if !request.options.isDryRun { try store.synchronize() }
    case .stopped: if request.options.isWhole { try folder.clear(plan.steps.map(\.rejects)) }
    }
    return end
  }

  private func load(
    _ plan: FeedPlan, _ checkpoint: inout ImportCheckpoint, _ known: KnownFile?, _ shouldStop: () -> Bool,
    _ report: (ImportProgress) -> Void
  ) throws -> ImportEnd {
    counts = plan.steps.map { _ in ImportCounts() }
    bytes = plan.steps.map { (0, max(0, $0.member?.size ?? 0)) }
    notes = plan.steps.map { _ in [] }
    isEmpty = plan.steps.map { _ in false }
    for index in plan.steps.indices {
      guard try run(plan.steps[index], index, holdsEnd: plan.holdsEnds, shouldStop, report) else { return stopped() }
    }
    if plan.holdsEnds {
      for index in plan.steps.indices.reversed() where !isEmpty[index] {
        guard try run(plan.steps[index], index, holdsEnd: false, shouldStop, report) else { return stopped() }
      }
    }
    let all = counts.reduce(ImportCounts(), +)
    try importer.checkRejects(all, first: "see the reject files", atEnd: true)
    checkpoint.isFinished = true
    checkpoint.counts = all
    checkpoint.position.record = all.records
    checkpoint.bytesTotal = progress.bytesTotal
    try checkpoint.write(to: ImportCheckpoint.object(request.job, in: context))
    try known?.keep(in: context)
    try context.saveValidated()
    context.reset()
    let told = zip(plan.steps, zip(counts, notes)).flatMap { step, done in
      [Self.summary(step, done.0)] + done.1.map { step.member == nil ? $0 : "\(step.name): \($0)" }
    }
    var shown = Array(told.prefix(Self.shownNotes))
    if told.count > shown.count { shown.append("and \(told.count - shown.count) more such notes") }
    return .finished(progress, notes: shown + plan.notes)
  }

  /// Imports one member, unless that is done.
  /// - Returns: false when `shouldStop` said so before the end.
  private func run(
    _ step: FeedPlan.Step, _ index: Int, holdsEnd: Bool, _ shouldStop: () -> Bool, _ report: (ImportProgress) -> Void
  ) throws -> Bool {
    let done = try ImportCheckpoint.read(step.job, in: context)
    context.reset()
    if let done, done.isFinished {
      counts[index] = done.counts
      // Its archive need not have said how long it is.
      if done.bytesTotal > 0 { bytes[index].total = done.bytesTotal }
      bytes[index].done = bytes[index].total
      return true
    }
    counts[index] = ImportCounts()
    var part = importer
    part.request = memberRequest(step)
    part.part = FeedPart(member: step.member, others: counts.reduce(ImportCounts(), +), holdsEnd: holdsEnd)
    do {
      let end = try part.run(in: context, shouldStop: shouldStop) { progress in
        take(progress, index)
        report(self.progress)
      }
      switch end {
      case .stopped(let progress):
        take(progress, index)
        return false
      case .finished(let progress, let notes):
        take(progress, index)
        self.notes[index] = notes
        return true
      }
    } catch ReaderError.emptyFile where step.member != nil && !request.options.deletes {
      isEmpty[index] = true
      notes[index] = ["the file is empty"]
      return true
    } catch let error where step.member != nil && (error is MappingError || error is ReaderError) {
      throw MemberFailure(member: step.name, reason: error)
    }
  }

  private func memberRequest(_ step: FeedPlan.Step) -> ImportRequest {
    var member = request
    member.job = step.job
    member.entity = step.entity.name
    member.rejects = folder.file(step.rejects)
    member.options.reader.member = nil
    member.options.mapping = request.options.mapping.narrowed(to: step.entity)
    // Each leaves the store as it would be, for the next one; the whole is taken back.
    member.options.isDryRun = false
    member.options.atomicity = request.options.isWhole ? .file : .batch
    return member
  }

  private func take(_ progress: ImportProgress, _ index: Int) {
    counts[index] = progress.counts
    bytes[index] = (progress.bytesDone, progress.bytesTotal)
  }

  private var progress: ImportProgress {
    ImportProgress(
      counts: counts.reduce(ImportCounts(), +), bytesDone: bytes.reduce(0) { $0 + $1.done },
      bytesTotal: bytes.reduce(0) { $0 + $1.total })
  }

  /// How it stands when it was stopped: by file nothing is committed.
  private func stopped() -> ImportEnd {
    guard request.options.isWhole else { return .stopped(progress) }
    return .stopped(
      ImportProgress(counts: ImportCounts(), bytesDone: 0, bytesTotal: bytes.reduce(0) { $0 + $1.total }))
  }

  /// The entities that files may be of: those whose rows are saved together with checkpoints.
  private func entities(of store: PersistentStore) throws -> [EntityDescription] {
    try importer.coordinator.model.entities.filter { entity in
      try !entity.isAbstract && !ImportModel.entities.contains(entity.name)
        && importer.coordinator.store(of: entity) === store
    }
  }

  private static func summary(_ step: FeedPlan.Step, _ counts: ImportCounts) -> String {
    let parts = [
      (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.unchanged, "unchanged"),
      (counts.deleted, "deleted"), (counts.rejected, "rejected"), (counts.skipped, "skipped"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return "\(step.name) into \(step.entity.name): \(parts.isEmpty ? "nothing" : parts.joined(separator: ", "))"
  }
}
