import Foundation
import Glibc

extension SpoolIntake {
  /// So many entries that came during a listing are kept in memory.
  static let listed = 4096

  /// One look at everything: at what events named first, in the order in which it came, then at what lies there. What
  /// comes during the listing is left to its own event, for the listing may see a later entry and not an earlier one.
  func pass() async throws {
    beginPass()
    let failuresBefore = counts.failures
    try refreshPlaces()
    if counts.eventTrouble != nil, isWatched { counts.eventTrouble = nil }
    if handOversAreOpen { try resumeHandOvers() }
    let start = FileStatus.tick()
    let before = await drainKernel()
    guard before.goesOn else { return }
    var changedSince = [FoundEntry]()
    var sorter = try list(changedBefore: start, others: &changedSince)
    while !Task.isCancelled, let entry = try sorter.next() {
      guard await consider([entry], but: [before.entries]) else { return }
    }
    guard await takeRest() else { return }
    let after = await drainKernel()
    guard after.goesOn else { return }
    // Not everything that changes an entry is told by an event: the end of its other name isn't.
    guard await consider(changedSince.sorted(), but: [before.entries, after.entries]), await takeRest() else { return }
    if sorter.isIncomplete { scheduleRescan(after: timing.settle.nanoseconds) } else { failures.endPass() }
    counts.lastRescan = Date.now
    counts.obstacle = incoming == nil ? "\(directories.path)/incoming isn't there. It is made again soon." : nil
    if let lookedThrough, !Task.isCancelled, counts.failures == failuresBefore, counts.waiting == 0, incoming != nil,
      !sorter.isIncomplete, !rescanIsDue
    {
      try await lookedThrough()
      self.lookedThrough = nil
    }
  }

  private func beginPass() {
    rescanIsDue = false
    awaited = [:]
    counts.waiting = 0
    corruptCountIsOfThisPass = false
    failures.beginPass()
    scheduleRescan(after: timing.rescanInterval.nanoseconds)
  }

  /// Looks at what the kernel's events name up to now; what it looked at.
  private func drainKernel() async -> (entries: PendingEntries, goesOn: Bool) {
    if let watcher { note(watcher.readNow()) }
    return await drain()
  }

  private func consider(_ found: [FoundEntry], but seen: [PendingEntries]) async -> Bool {
    for entry in found where !Task.isCancelled {
      let key = PendingEntries.Key(recipe: entry.recipe, name: entry.name)
      if seen.contains(where: { $0.triggers[key] != nil }) { continue }
      let place = entry.recipe.map { hotFolders[$0] } ?? incoming
      if let place, await !consider(entry.name, in: place, trigger: .found) { return false }
    }
    return true
  }

  /// The entries that lie there. Where events tell of what comes, those that changed since `start` are put to the others
  /// instead.
  private func list(changedBefore start: Int64, others: inout [FoundEntry]) throws -> EntrySorter {
    var sorter = EntrySorter(recipes: recipes) { [directories] in try directories.handle(.active).scratchFile() }
    var changedSince = [FoundEntry]()
    for place in [incoming].compactMap({ $0 }) + hotFolders.values {
      let isWatched = watcher != nil && !lacksWatch(.place(recipe: place.recipe))
      try place.directory.forEach { name, kind in
        if examiner.partialNames.match(name) { return }
        // Data files that wait for a ticket may be many; they needn't even be looked at.
        if place.recipe == nil, kind == .regular, !name.isTicket, name.refusal == nil { return }
        if place.recipe == nil, kind == .directory, examiner.recipes.contains(name) { return }
        guard let status = try place.directory.status(of: name) else { return }
        let entry = FoundEntry(modified: status.modified, recipe: place.recipe, name: name)
        // A time that is still to come is a clock that was put back, and says nothing.
        if isWatched, status.changed >= start, status.changed <= FileStatus.now() {
          if changedSince.count < SpoolIntake.listed { changedSince.append(entry) } else { rescanIsDue = true }
        } else {
          sorter.add(entry)
        }
      }
    }
    if rescanIsDue { wakeUp() }
    others = changedSince
    return sorter
  }
}
