// Gathers the files of sets. Rule 5 (ARCHITECTURE.md) is kept for them by making several files one entry before a job is
// made of them:
//
//   1  examine all, fsync        the files are where they were: the next look starts over
//   2  rename each into a folder `.NAME.gathering` beside them; after a kill they go back to where they were
//   3  fsync, rename the folder to `.NAME.set`, fsync: from here on the set is complete, whatever the configuration becomes
//   4  the folder is an entry like every other, with an identity of its own: steps 2 to 7 of SpoolIntake
//
// Nothing leaves incoming/ before step 4, and all of it leaves by one rename.

import Glibc
import LadeTypes

/// Looks for sets of files in hot folders, and gathers them.
///
/// Not `Sendable`: it is confined to the intake's queue. All methods block.
final class SetFolders {
  /// How many files may wait in a hot folder of sets. Further ones are left alone, and reported.
  private static let mostWaiting = 10_000

  private let report: IntakeReport
  private let schedule: ScanSchedule
  private let corrupt: CorruptFolder
  private var sets: [String: FileSet]
  /// The hot folders in which something has changed.
  private var touched: Set<String> = []
  /// The files that events have said to be finished, though they may be empty. Bounded: others have to settle.
  private var finished: Set<PendingEntries.Key> = []
  /// Folders of sets that a listing has found.
  private var found: [(place: SpoolPlace, name: FileName)] = []
  private var waiting: [String: [WaitingSet]] = [:]

  init(_ sets: [String: FileSet], report: IntakeReport, schedule: ScanSchedule, corrupt: CorruptFolder) {
    self.sets = sets
    self.report = report
    self.schedule = schedule
    self.corrupt = corrupt
  }

  func reconfigure(_ sets: [String: FileSet]) {
    self.sets = sets
    let gone = Set(waiting.keys).subtracting(sets.keys)
    for recipe in gone { waiting[recipe] = nil }
    if !gone.isEmpty { share() }
  }

  /// Whether the files of a place are those of sets.
  func take(in place: SpoolPlace) -> Bool { place.recipe.map { sets[$0] != nil } ?? false }

  /// Notes that a file of a hot folder has come.
  func touch(_ name: FileName, in recipe: String, trigger: SpoolTrigger) {
    touched.insert(recipe)
    if case .finished = trigger, finished.count < PendingEntries.limit {
      finished.insert(PendingEntries.Key(recipe: recipe, name: name))
    }
  }

  /// Begins a scan of everything.
  func beginScan() {
    found = []
    touched.formUnion(sets.keys)
  }

  /// Notes a folder that a listing has found, if it is one of a set.
  func note(_ name: FileName, _ kind: FileStatus.Kind?, in place: SpoolPlace) {
    guard kind == .directory || kind == nil, SetName.parts(of: name) != nil else { return }
    // A scan finds the rest.
    if found.count < PendingEntries.limit { found.append((place, name)) } else { schedule.requestScan() }
  }

  /// Whether there is something to do.
  var isNeeded: Bool { !touched.isEmpty || !found.isEmpty }

  /// Finishes what a kill left, and gathers what is complete.
  /// - Parameters:
  ///   - examiner: of files.
  ///   - isCopied: whether a file has been copied to `active/`, and couldn't be removed here: it was no member of a set then.
  /// - Returns: the sets to be taken.
  func candidates(
    _ folders: IncomingFolders, _ examiner: EntryExaminer, isCopied: (FileName, SpoolPlace) throws -> Bool
  ) -> [SpoolCandidate] {
    var candidates: [SpoolCandidate] = []
    let recipes = touched.sorted()
    touched = []
    for place in recipes.compactMap({ folders.place(of: $0) }) {
      guard let recipe = place.recipe, let set = sets[recipe] else { continue }
      do {
        try look(for: set, recipe, in: place, examiner, isCopied, into: &candidates)
      } catch {
        report.failed(error, at: "incoming/" + recipe)
      }
    }
    let folders = found
    found = []
    for (place, name) in folders {
      if candidates.contains(where: { $0.name == name && $0.place.recipe == place.recipe }) { continue }
      do {
        if let candidate = try finish(name, in: place) { candidates.append(candidate) }
      } catch {
        report.failed(error, at: "incoming/" + place.relativeName(name))
      }
    }
    return candidates
  }

  /// What is to be done with a folder that is there.
  private func finish(_ name: FileName, in place: SpoolPlace) throws -> SpoolCandidate? {
    guard let (stem, stage) = SetName.parts(of: name), try place.directory.directory(name)?.isOwn() == true else {
      return nil
    }
    switch stage {
    case .gathering:
      try putBack(name, of: stem, in: place)
      if let recipe = place.recipe { touched.insert(recipe) }
      schedule.requestScan()
      return nil
    case .taken:
      try place.directory.removeFolder(name)
      return nil
    case .set:
      return try candidate(name, in: place)
    }
  }

  private func candidate(_ name: FileName, in place: SpoolPlace) throws -> SpoolCandidate? {
    do {
      return try GatheredSet(name, in: place).map { SpoolCandidate($0, in: place) }
    } catch let refusal as SpoolRefusal {
      try refuse(name, in: place, refusal)
      return nil
    }
  }

  /// Moves the folder of a set to `corrupt/`, with the reason beside it.
  func refuse(_ folder: FileName, in place: SpoolPlace, _ refusal: SpoolRefusal) throws {
    let stem = SetName.parts(of: folder)?.name ?? folder
    try corrupt.take(folder, from: place, refusal, as: stem.sanitised)
  }

  // MARK: Looking

  /// The files of a hot folder, as far as they can be members.
  private struct Listing {
    var files: [String: FileStatus] = [:]
    var isTooLong = false
  }

  private func look(
    for set: FileSet, _ recipe: String, in place: SpoolPlace, _ examiner: EntryExaminer,
    _ isCopied: (FileName, SpoolPlace) throws -> Bool, into candidates: inout [SpoolCandidate]
  ) throws {
    var listing = try list(place, recipe, examiner, isCopied)
    if try putBackUnfinished(in: place) { listing = try list(place, recipe, examiner, isCopied) }
    finished = finished.filter { $0.recipe != recipe || $0.name.text.map { listing.files[$0] != nil } ?? false }
    if listing.isTooLong {
      report.failed(
        SpoolError.tooManyMembers(path: "incoming/" + recipe, limit: Self.mostWaiting), at: "incoming/" + recipe)
    }
    let (groups, strangers) = set.groups(of: Array(listing.files.keys))
    for name in strangers { try refuseStranger(name, of: set, in: place, examiner, listing.files[name]) }
    var waiting: [WaitingSet] = []
    let byAge = groups.map { group in (group, group.all.compactMap { listing.files[$0]?.modified }.min() ?? 0) }
      .sorted { ($0.1, $0.0.key) < ($1.1, $1.0.key) }
    for group in byAge.map(\.0) {
      let missing = group.missing(of: set)
      if !missing.isEmpty {
        if let one = try wait(for: missing, group, set, recipe, in: place, listing.files) { waiting.append(one) }
        continue
      }
      if let candidate = try gather(group, recipe, in: place, examiner, &listing.files) { candidates.append(candidate) }
    }
    let before = self.waiting[recipe]
    self.waiting[recipe] = waiting.isEmpty ? nil : waiting
    announce(waiting, before ?? [], set)
    if before != nil || !waiting.isEmpty { share() }
  }

  /// Puts back what a kill left in unfinished folders of a place.
  /// - Returns: whether there was any.
  private func putBackUnfinished(in place: SpoolPlace) throws -> Bool {
    var hasAny = false
    for (there, name) in found where there.recipe == place.recipe {
      guard let (stem, stage) = SetName.parts(of: name), stage == .gathering,
        try place.directory.directory(name)?.isOwn() == true
      else { continue }
      try putBack(name, of: stem, in: place)
      hasAny = true
    }
    return hasAny
  }

  private func list(
    _ place: SpoolPlace, _ recipe: String, _ examiner: EntryExaminer,
    _ isCopied: (FileName, SpoolPlace) throws -> Bool
  ) throws -> Listing {
    var listing = Listing()
    var others: [FileName] = []
    try place.directory.forEach { name, kind in
      if examiner.partialNames.match(name) { return note(name, kind, in: place) }
      guard let status = try place.directory.status(of: name) else { return }
      guard status.kind == .regular, name.refusal == nil, let text = name.text else {
        if others.count < PendingEntries.limit { others.append(name) }
        return
      }
      guard listing.files.count < Self.mostWaiting else {
        listing.isTooLong = true
        return
      }
      if try !isCopied(name, place) { listing.files[text] = status }
    }
    for name in others {
      switch try examiner.examine(name, in: place, trigger: .found) {
      case .refuse(let refusal): try corrupt.take(name, from: place, refusal)
      case .wait(let time, _): wait(for: time)
      case .ignore, .take, .gather: break
      }
    }
    return listing
  }

  private func wait(for time: Int64?) {
    report.update { $0.waiting += 1 }
    if let time { schedule.scan(after: time) }
  }

  /// Refuses a file that belongs to no set, once it is finished: it may get its name only then.
  private func refuseStranger(
    _ text: String, of set: FileSet, in place: SpoolPlace, _ examiner: EntryExaminer, _ status: FileStatus?
  ) throws {
    let name = FileName(text)
    if let status, let time = settling(name, status, place, examiner) { return wait(for: time) }
    let group = try place.directory.status().group
    switch try examiner.open(name, in: place.directory, trigger: .found, spoolGroup: group) {
    case .stop(.wait(let time, _)): wait(for: time)
    case .stop(.refuse(let refusal)): try corrupt.take(name, from: place, refusal)
    case .stop: break
    case .opened: try corrupt.take(name, from: place, .notOfSet(patterns: set.patterns))
    }
  }

  /// How long to wait for a file that is empty and that no event has called finished: between its creation and its opening
  /// for writing a file has no writer.
  private func settling(
    _ name: FileName, _ status: FileStatus, _ place: SpoolPlace, _ examiner: EntryExaminer
  ) -> Int64? {
    guard status.size == 0, !finished.contains(PendingEntries.Key(recipe: place.recipe, name: name)) else { return nil }
    let age = FileStatus.now() - status.changed
    return age >= 0 && age < examiner.settle ? examiner.settle - age : nil
  }

  // MARK: Waiting

  /// - Returns: what is shown of a set that isn't complete; nil if it has been refused.
  private func wait(
    for missing: [String], _ group: FileGroup, _ set: FileSet, _ recipe: String, in place: SpoolPlace,
    _ files: [String: FileStatus]
  ) throws -> WaitingSet? {
    let since = group.all.compactMap { files[$0]?.changed }.min() ?? FileStatus.now()
    var isOverdue = false
    if let timeout = set.timeout {
      let left = since.addingReportingOverflow(Duration.seconds(timeout).nanoseconds).partialValue - FileStatus.now()
      isOverdue = left <= 0
      if left > 0 { schedule.scan(after: left) }
    }
    if isOverdue, set.refusesLate {
      let name = Self.name(of: group, recipe)
      let members = group.all.map { Member(name: FileName($0), file: nil) }
      guard let folder = try gather(members, as: name, in: place) else { return nil }
      try refuse(folder, in: place, .lateSet(missing: missing, after: .seconds(set.timeout ?? 0)))
      return nil
    }
    return WaitingSet(
      recipe: recipe, key: group.key, files: group.all, missing: missing, since: SpoolEntry.date(since),
      isOverdue: isOverdue)
  }

  /// Logs the sets that have become overdue since the last look.
  private func announce(_ now: [WaitingSet], _ before: [WaitingSet], _ set: FileSet) {
    for each in now where each.isOverdue && !before.contains(where: { $0.key == each.key && $0.isOverdue }) {
      report.overdue(each)
    }
  }

  private func share() {
    let all = waiting.sorted { $0.key < $1.key }.flatMap(\.value)
    report.update { status in
      status.sets = Array(all.prefix(SpoolStatus.shownSets))
      status.waitingSets = all.count
      status.overdueSets = all.count(where: \.isOverdue)
    }
  }

  // MARK: Gathering

  /// A file that is to be gathered, with its name in the folder.
  struct Member {
    let name: FileName
    var newName: FileName?
    /// Nil if it is refused anyway.
    let file: OpenFile?
  }

  /// `timetable-2026-11-28`; the recipe's name where nothing distinguishes its sets.
  private static func name(of group: FileGroup, _ recipe: String) -> FileName {
    FileName(FileName(group.key.isEmpty ? recipe : "\(recipe)-\(group.key)").sanitised)
  }

  /// - Returns: nil if the set isn't to be taken yet, or has been refused.
  private func gather(
    _ group: FileGroup, _ recipe: String, in place: SpoolPlace, _ examiner: EntryExaminer,
    _ files: inout [String: FileStatus]
  ) throws -> SpoolCandidate? {
    let spoolGroup = try place.directory.status().group
    var members: [Member] = []
    for text in group.all {
      let name = FileName(text)
      if let status = files[text], let time = settling(name, status, place, examiner) {
        wait(for: time)
        return nil
      }
      switch try examiner.open(name, in: place.directory, trigger: .found, spoolGroup: spoolGroup) {
      case .opened(let file): members.append(Member(name: name, file: file))
      case .stop(.refuse(let refusal)):
        try corrupt.take(name, from: place, refusal)
        schedule.requestScan()
        return nil
      case .stop(.wait(let time, _)):
        wait(for: time)
        return nil
      case .stop:
        schedule.requestScan()
        return nil
      }
    }
    guard let folder = try gather(members, as: Self.name(of: group, recipe), in: place) else { return nil }
    let owners = Set(members.compactMap(\.file?.status.owner))
    if owners.count > 1 {
      try refuse(folder, in: place, .setOfOwners(owners.sorted()))
      return nil
    }
    return try candidate(folder, in: place)
  }

  /// Gathers the files of a ticket, and the ticket.
  /// - Returns: nil if that isn't possible now.
  func gather(_ members: [SetMember], ticket: FileName, _ file: OpenFile, in place: SpoolPlace) throws
    -> SpoolCandidate?
  {
    var all = members.map { Member(name: $0.name, file: $0.file) }
    all.append(Member(name: ticket, newName: SetName.ticket, file: file))
    guard let folder = try gather(all, as: ticket, in: place) else { return nil }
    return try candidate(folder, in: place)
  }

  /// Steps 1 to 3.
  /// - Returns: the folder; nil if an earlier set of that name hasn't been taken yet, or a file has just been replaced.
  private func gather(_ members: [Member], as name: FileName, in place: SpoolPlace) throws -> FileName? {
    let (directory, partial) = (place.directory, SetName.folder(name, .gathering))
    let complete = SetName.folder(name, .set)
    for taken in [complete, partial] {
      guard let status = try directory.status(of: taken) else { continue }
      if status.kind == .directory, try directory.directory(taken)?.isOwn() == true {
        note(taken, .directory, in: place)
        schedule.scan(after: Self.pause)
        return nil
      }
      // Somebody else's, in the way.
      try corrupt.take(taken, from: place, .directory)
    }
    for member in members { try member.file?.synchronise(path: directory.place(member.name)) }
    let folder = try directory.directory(partial, creatingWith: 0o750)
    guard try folder.isOwn() else {
      // Somebody has made it since it was looked for.
      try corrupt.take(partial, from: place, .directory)
      schedule.scan(after: Self.pause)
      return nil
    }
    do {
      for member in members {
        let newName = member.newName ?? member.name
        try directory.rename(member.name, to: folder, newName)
        if let file = member.file, try folder.status(of: newName)?.isSameFile(as: file.status) != true {
          throw SpoolError.changed(path: directory.place(member.name))
        }
      }
      try folder.synchronise()
    } catch {
      try putBack(partial, of: name, in: place)
      throw error
    }
    try directory.rename(partial, to: directory, complete)
    try directory.synchronise()
    return complete
  }

  /// How long to wait for an earlier set of the same name.
  private static let pause: Int64 = 1_000_000_000

  /// Puts the files of an unfinished folder back to where they were, and removes it. A file that has come under the name of
  /// one stays, and the one that was there before gets a number.
  private func putBack(_ folderName: FileName, of name: FileName, in place: SpoolPlace) throws {
    guard let folder = try place.directory.directory(folderName) else { return }
    var names: [FileName] = []
    try folder.forEach { name, _ in names.append(name) }
    for file in names {
      let former = file == SetName.ticket ? name : file
      try FreeName.claim(former.text ?? former.sanitised) { free in
        try place.directory.status(of: free) != nil
      } claim: { free in
        try folder.rename(file, to: place.directory, free)
      }
    }
    try place.directory.synchronise()
    try place.directory.removeFolder(folderName)
  }
}
