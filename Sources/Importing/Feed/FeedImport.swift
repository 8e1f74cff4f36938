// Rules 3 and 4 (ARCHITECTURE.md) for a file that holds records of several entities. Each member is an import with a
// checkpoint of its own, and the feed has another: written first, with the identity of the file, and finished last. After a
// kill, a finished member isn't read again and an unfinished one continues. An import of the whole file is one transaction.
//
// If the ends of members have to wait (see FeedPlan), all members are read first. Then their ends follow in reverse order:
// the same imports run again from where they stopped, which is the end of their members.
//
// Members of a zip are found by its directory. A tar has none and is read from its beginning for each member.
//
// A set of files is a feed, too: a folder in place of an archive, always one transaction. Before it begins, the files are
// compared with what its control file says (see SetCheck).

import ManagedObjects

/// The import of a feed. On one thread.
final class FeedImport {
  /// The maximum number of notes to show, since people read them.
  private static let noteLimit = 200
  private let importer: Importer
  private let context: ManagedObjectContext
  private let request: ImportRequest
  private let folder: RejectFolder
  private var members: [Member] = []

  /// The state of one step of the plan.
  private struct Member {
    let step: FeedPlan.Step
    var counts = ImportCounts()
    var bytesDone: Int64 = 0
    var bytesTotal: Int64
    var notes: [String] = []
    var isEmpty = false

    init(_ step: FeedPlan.Step) {
      self.step = step
      bytesTotal = step.size
    }

    mutating func note(_ progress: ImportProgress) {
      counts = progress.counts
      bytesDone = progress.bytesDone
      bytesTotal = progress.bytesTotal
    }

    var allNotes: [String] {
      let parts = [
        (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.unchanged, "unchanged"),
        (counts.deleted, "deleted"), (counts.rejected, "rejected"), (counts.skipped, "skipped"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      let summary =
        (step.name == step.entity.name ? step.name : "\(step.name) into \(step.entity.name)")
        + ": \(parts.isEmpty ? "nothing" : parts.joined(separator: ", "))"
      return [summary]
        + notes.map { step.member == nil && step.sheet == nil && step.file == nil ? $0 : "\(step.name): \($0)" }
    }
  }

  init(_ importer: Importer, in context: ManagedObjectContext) {
    self.importer = importer
    self.context = context
    request = importer.request
    folder = RejectFolder(url: importer.request.rejects)
  }

  /// Like ``Importer/run(in:shouldStop:report:)``.
  func run(_ control: ImportControl) throws -> ImportEnd {
    guard let checkpoints = importer.coordinator.model.entitiesByName[ImportModel.checkpointEntity] else {
      throw MappingError.unknownEntity(name: ImportModel.checkpointEntity, known: [])
    }
    let store = try importer.coordinator.store(of: checkpoints)
    let begun = try ImportCheckpoint.read(request.job, in: context)
    context.reset()
    if let begun, begun.isFinished {
      try folder.removeIfEmpty()
      try store.synchronize()
      return .finished(ImportProgress(ended: begun, of: request.source), .committed, notes: [])
    }
    let source: any IdentifiedSource
    let plan: FeedPlan
    var check: SetCheck?
    if let set = request.options.set {
      let files = try SetFolder(request.source, set)
      plan = try FeedPlan(files, request, entities(of: store))
      let masks = plan.steps.contains { request.options.mapping.masks(into: $0.entity) }
      check = SetCheck(folder: files, options: request.options.reader, masks: masks)
      source = files
    } else {
      let file = try ImportSource(request.source, descriptor: request.descriptor)
      plan = try FeedPlan(file, request, entities(of: store), importer.coordinator.model)
      source = file
    }
    let checkpoint = try (begun ?? ImportCheckpoint()).identified(as: source)
    try request.options.mapping.check(ofFeed: plan.steps.map(\.entity))
    let known = try importer.knownFile(source, into: plan.target, control)
    if begun == nil, let note = try known?.earlierImport(in: context) { return importer.skipped(note) }
    try check?.run(shouldStop: control.shouldStop)
    let checked = check == nil ? nil : source
    try folder.make()
    let digest = try importer.digest(source, into: plan.steps.map(\.entity), known)
    defer { digest?.cancel() }
    let load = { [self] (control: ImportControl) throws -> ImportEnd in
      if begun == nil { try save(checkpoint) }
      return try importMembers(plan, checkpoint, known, digest, checked, control)
    }
    let end =
      if request.options.isWhole {
        try WholeFileTransaction(
          coordinator: importer.coordinator, store: store, isDryRun: request.options.isDryRun,
          protected: importer.protected
        ).run(from: ImportCheckpoint(), control, load)
      } else {
        try load(control)
      }
    switch end {
    case .finished:
      try folder.removeIfEmpty()
      if !request.options.isDryRun { try store.synchronize() }
    case .stopped: if request.options.isWhole { try folder.clear(plan.steps.map(\.rejects)) }
    }
    return end
  }

  private func save(_ checkpoint: ImportCheckpoint) throws {
    try checkpoint.write(to: ImportCheckpoint.object(request.job, in: context))
    try context.save()
    context.reset()
  }

  private func importMembers(
    _ plan: FeedPlan, _ checkpoint: ImportCheckpoint, _ known: KnownFile?, _ digest: SourceDigest?,
    _ checked: (any IdentifiedSource)?, _ control: ImportControl
  ) throws -> ImportEnd {
    members = plan.steps.map(Member.init)
    for index in members.indices {
      guard try importMember(index, holdsEnd: plan.holdsEnds, control) else { return stopped() }
    }
    if plan.holdsEnds {
      for index in members.indices.reversed() where !members[index].isEmpty {
        guard try importMember(index, holdsEnd: false, control) else { return stopped() }
      }
    }
    let all = counts
    let limits = RejectLimits(request.options)
    try limits.check(all, first: "see the reject files", atEnd: true)
    try limits.checkTaken(all, first: "see the reject files")
    // What was imported must be what was checked.
    if let checked { _ = try checkpoint.identified(as: checked) }
    var checkpoint = checkpoint
    checkpoint.isFinished = true
    checkpoint.counts = all
    checkpoint.position.record = all.records
    checkpoint.bytesTotal = progress.bytesTotal
    try checkpoint.write(to: ImportCheckpoint.object(request.job, in: context))
    try known?.keep(in: context)
    if let digest = try digest?.value() { try LineageRecorder.finish(request.job, digest: digest, in: context) }
    try context.saveValidated()
    context.reset()
    // Each entity of a Core Data store has the notes about the one file.
    var said: Set<String> = []
    let notes = members.flatMap(\.allNotes).filter { said.insert($0).inserted }
    var shown = Array(notes.prefix(Self.noteLimit))
    if notes.count > shown.count { shown.append("and \(notes.count - shown.count) more such notes") }
    return .finished(progress, .committed, notes: shown + plan.notes)
  }

  /// Imports one member, unless it is finished.
  /// - Returns: false when `shouldStop` returned true before the end.
  private func importMember(_ index: Int, holdsEnd: Bool, _ control: ImportControl) throws -> Bool {
    let step = members[index].step
    let done = try ImportCheckpoint.read(step.job, in: context)
    context.reset()
    if let done, done.isFinished {
      members[index].counts = done.counts
      // The archive need not have said how long the member is.
      if done.bytesTotal > 0 { members[index].bytesTotal = done.bytesTotal }
      members[index].bytesDone = members[index].bytesTotal
      return true
    }
    members[index].counts = ImportCounts()
    let part = FeedPart(
      member: step.member, others: counts, holdsEnd: holdsEnd,
      hasTrailer: step.file != nil && request.options.set?.control.trailer == true)
    let reporting = ImportControl(shouldStop: control.shouldStop) { [self] progress in
      members[index].note(progress)
      control.report(self.progress)
    }
    do {
      let end = try importer.importer(of: memberRequest(step), as: part).run(in: context, reporting)
      members[index].note(end.progress)
      guard case .finished = end else { return false }
      members[index].notes = end.notes
      return true
    } catch ReaderError.emptyFile where step.isPart && !request.options.deletes {
      members[index].isEmpty = true
      members[index].notes = ["the file is empty"]
      return true
    } catch let error
      where step.isPart && (error is MappingError || error is ReaderError)
    {
      throw MemberFailure(member: step.name, reason: error)
    }
  }

  private func memberRequest(_ step: FeedPlan.Step) -> ImportRequest {
    var member = step.request(in: request)
    member.rejects = folder.file(step.rejects)
    return member
  }

  private var counts: ImportCounts { members.reduce(ImportCounts()) { $0 + $1.counts } }

  private var progress: ImportProgress {
    ImportProgress(
      counts: counts, bytesDone: members.reduce(0) { $0 + $1.bytesDone },
      bytesTotal: members.reduce(0) { $0 + $1.bytesTotal })
  }

  /// The end of a feed that was stopped. An import of the whole file has committed nothing.
  private func stopped() -> ImportEnd {
    guard request.options.isWhole else { return .stopped(progress) }
    return .stopped(ImportProgress(counts: ImportCounts(), bytesDone: 0, bytesTotal: progress.bytesTotal))
  }

  /// The entities that files may belong to: those whose rows are saved together with checkpoints.
  private func entities(of store: PersistentStore) throws -> [EntityDescription] {
    try importer.coordinator.model.entities.filter { entity in
      try !entity.isAbstract && !ImportModel.entities.contains(entity.name)
        && importer.coordinator.store(of: entity) === store
    }
  }
}

/// What the import of a feed's member has to know about the feed.
struct FeedPart {
  /// The member that is read; nil for a file that isn't an archive.
  let member: ArchiveMember?
  /// The counts of the other members so far. Limits include them.
  let others: ImportCounts
  /// Whether it stops when everything is read. Another run does what can only be done at the end.
  let holdsEnd: Bool
  /// Whether the last line isn't a record.
  let hasTrailer: Bool

  /// How the names of the members' jobs begin.
  static func prefix(of job: String) -> String { job + "#" }
}

/// Why a member of a feed couldn't be imported.
package struct MemberFailure: Error, CustomStringConvertible {
  /// The member's name, safe to print.
  package let member: String
  /// A ``MappingError`` or `ReaderError`.
  package let reason: any Error

  package var description: String { "\(member): \(reason)" }
}

extension FeedPlan.Step {
  /// The import of it, within that of the whole source.
  func request(in request: ImportRequest) -> ImportRequest {
    var member = request
    member.job = job
    member.entity = entity.name
    member.options.reader.member = nil
    member.options.set = nil
    if let file { (member.source, member.name) = (file.url, file.name) }
    member.options.mapping = request.options.mapping.narrowed(to: entity)
    if let sheet {
      member.options.reader.format = .xlsx
      member.options.reader.member = sheet
    }
    if let select {
      member.options.reader.format = .sqlite
      member.options.reader.query = select.query
      member.options.reader.coreDataStore = request.source.path
      member.options.mapping.properties.merge(select.rules) { own, rule in
        var rule = rule
        rule.mask = own.mask
        return rule
      }
    }
    // In a dry run too, each member must leave the store as it would be for the next one. The feed is rolled back.
    member.options.isDryRun = false
    if let retry = request.retry, let name = self.member?.name {
      member.retry = retry.part(of: name)
      if retry.isOfCoreData {
        member.options.mapping.properties.merge(
          CoreDataSelects.rules(ofRejectsOf: entity, member.options.mapping)
        ) { $1 }
      }
    }
    member.options.atomicity = request.options.isWhole ? .file : .batch
    return member
  }
}
