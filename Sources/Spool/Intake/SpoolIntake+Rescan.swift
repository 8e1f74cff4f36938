import Foundation
import Glibc

/// An entry that a rescan found, in the order of taking: by time of its last change, then by name.
struct FoundEntry: Comparable, Sendable {
  let modified: Int64
  let recipe: String?
  let name: FileName

  static func < (left: FoundEntry, right: FoundEntry) -> Bool {
    if left.modified != right.modified { return left.modified < right.modified }
    if left.name != right.name { return left.name < right.name }
    return (left.recipe ?? "") < (right.recipe ?? "")
  }

  static func == (left: FoundEntry, right: FoundEntry) -> Bool {
    left.modified == right.modified && left.name == right.name && left.recipe == right.recipe
  }
}

extension SpoolIntake {
  /// So many entries are listed at a time: memory doesn't grow with what lies in `incoming/`.
  static let listed = 4096

  /// One look at everything: at what events named first, in the order in which it came, then at what lies there. What
  /// comes during the listing is left to its own event, for the listing may see a later entry and not an earlier one.
  func pass() async throws {
    rescanIsDue = false
    awaited = [:]
    counts.waiting = 0
    scheduleRescan(after: timing.rescanInterval.nanoseconds)
    try refreshPlaces()
    let start = FileStatus.tick()
    let before = await drainKernel()
    var changedSince = [FoundEntry]()
    var last: FoundEntry?
    while !Task.isCancelled {
      let found = try list(after: last, changedBefore: start, others: &changedSince)
      await consider(found, but: [before])
      last = found.last
      if found.count < SpoolIntake.listed { break }
    }
    let after = await drainKernel()
    // Not everything that changes an entry is told by an event: the end of its other name isn't.
    await consider(changedSince.sorted(), but: [before, after])
    if handOversAreOpen { try resumeHandOvers() }
    await announce()
    counts.lastRescan = Date.now
  }

  /// Looks at what the kernel's events name up to now; what it looked at.
  private func drainKernel() async -> PendingEntries {
    if let watcher { note(watcher.readNow()) }
    return await drain()
  }

  private func consider(_ found: [FoundEntry], but seen: [PendingEntries]) async {
    for entry in found where !Task.isCancelled {
      let key = PendingEntries.Key(recipe: entry.recipe, name: entry.name)
      if seen.contains(where: { $0.triggers[key] != nil }) { continue }
      let place = entry.recipe.map { hotFolders[$0] } ?? incoming
      if let place { await consider(entry.name, in: place, trigger: .found) }
    }
  }

  /// Makes sure that the directories are the ones that are held open and watched, and creates those that are missing.
  func refreshPlaces() throws {
    try directories.ensure()
    let directory = try directories.handle(.incoming)
    let incoming = SpoolPlace(directory: directory, recipe: nil)
    if self.incoming?.directory !== directory {
      self.incoming = incoming
      hotFolders = [:]
      watch(directory, .place(recipe: nil))
    } else if lacksWatch(.place(recipe: nil)) {
      watch(directory, .place(recipe: nil))
    }
    for recipe in recipes.sorted() {
      if let held = hotFolders[recipe], !lacksWatch(.place(recipe: recipe)),
        let there = try directory.status(of: FileName(recipe)), there.isSameFile(as: try held.directory.status())
      {
        continue
      }
      do {
        let opened = try openHotFolder(recipe, in: incoming)
        hotFolders[recipe] = SpoolPlace(directory: opened, recipe: recipe)
        watch(opened, .place(recipe: recipe))
      } catch {
        hotFolders[recipe] = nil
        report(error, at: "incoming/\(recipe)")
      }
    }
  }

  private func openHotFolder(_ recipe: String, in incoming: SpoolPlace) throws -> DirectoryHandle {
    let name = FileName(recipe)
    let mode = SpoolDirectories.Folder.incoming.mode
    do {
      return try incoming.directory.directory(name, creatingWith: mode)
    } catch SpoolError.notADirectory {
      let status = try incoming.directory.status(of: name)
      let file = SpoolRefusal.unacceptable(
        what: "it is a file, and has the name of the hot folder of the recipe “\(recipe)”",
        advice: "Put the file into that folder, which is there now.")
      try refuse(name, in: incoming, status.flatMap { EntryExaminer.refusal(of: $0.kind) } ?? file)
      return try incoming.directory.directory(name, creatingWith: mode)
    }
  }

  /// The first `listed` entries after `last`, in order. Where events tell of what comes, those that changed since
  /// `start` are put to the others instead.
  private func list(
    after last: FoundEntry?, changedBefore start: Int64, others: inout [FoundEntry]
  ) throws -> [FoundEntry] {
    var found = [FoundEntry]()
    var changedSince = [FoundEntry]()
    for place in [incoming].compactMap({ $0 }) + hotFolders.values {
      let isWatched = watcher != nil && !lacksWatch(.place(recipe: place.recipe))
      try place.directory.forEach { name, kind in
        if name.isBeingWritten { return }
        // Data files that wait for a ticket may be many; they needn't even be looked at.
        if place.recipe == nil, kind == .regular, !name.isTicket, name.refusal == nil { return }
        if place.recipe == nil, kind == .directory, let text = name.text, recipes.contains(text) { return }
        guard let status = try place.directory.status(of: name) else { return }
        let entry = FoundEntry(modified: status.modified, recipe: place.recipe, name: name)
        // A time that is still to come is a clock that was put back, and says nothing.
        if isWatched, status.changed >= start, status.changed <= FileStatus.now() {
          if changedSince.count < SpoolIntake.listed { changedSince.append(entry) } else { rescanIsDue = true }
          return
        }
        if let last, !(last < entry) { return }
        found.append(entry)
        if found.count >= 2 * SpoolIntake.listed {
          found.sort()
          found.removeLast(found.count - SpoolIntake.listed)
        }
      }
    }
    if rescanIsDue { signal?.yield() }
    others = changedSince
    found.sort()
    if found.count > SpoolIntake.listed { found.removeLast(found.count - SpoolIntake.listed) }
    return found
  }
}
