import Dispatch
import Glibc

/// What a watch is on.
enum WatchedDirectory: Hashable, Sendable {
  /// The spool's root, for `incoming/` may be replaced.
  case root
  /// `incoming/`, or a recipe's hot folder in it.
  case place(recipe: String?)
}

extension SpoolIntake {
  func startWatching() {
    let timer = DispatchSource.makeTimerSource(queue: executor.queue)
    timer.setEventHandler { [weak self] in
      self?.assumeIsolated { intake in
        intake.nextRescan = .distantFuture
        intake.rescanIsDue = true
        intake.wakeUp()
      }
    }
    timer.activate()
    self.timer = timer
    do {
      let watcher = try IncomingWatcher(queue: executor.queue) { [weak self] events in
        self?.assumeIsolated { $0.note(events) }
      }
      self.watcher = watcher
      watchedRoot = directories.root
      watch(directories.root, .root)
      mountWatcher = try MountWatcher(queue: executor.queue) { [weak self] in
        self?.assumeIsolated { intake in
          intake.rescanIsDue = true
          intake.wakeUp()
        }
      }
      counts.eventTrouble = nil
    } catch {
      counts.eventTrouble = "\(error)"
      logger.warning("spool: no events, only a look every \(timing.rescanInterval): \(error)")
    }
  }

  func stopWatching() {
    timer?.cancel()
    timer = nil
    watcher = nil
    mountWatcher = nil
    watchedRoot = nil
    watches = [:]
    nextRescan = .distantFuture
    // The next run opens and watches them anew.
    incoming = nil
    hotFolders = [:]
    (placesSeen, placesGone) = ([], [:])
  }

  /// Watches a directory instead of the one that was watched in its place before.
  func watch(_ directory: DirectoryHandle, _ what: WatchedDirectory) {
    guard let watcher else { return }
    do {
      let watch = try watcher.watch(directory, isRoot: what == .root)
      for (earlier, place) in watches where place == what && earlier != watch {
        watches[earlier] = nil
        watcher.unwatch(earlier)
      }
      watches[watch] = what
    } catch {
      counts.eventTrouble = "\(error)"
      guard failures.note("\(error)", at: directory.path) != .old else { return }
      logger.warning(
        "spool: no events, only a look every \(timing.rescanInterval): \(error)",
        metadata: ["directory": "\(directory.path)"])
    }
  }

  /// Whether a directory should be watched and isn't: nobody watched when it was opened, or there were no watches left.
  func lacksWatch(_ what: WatchedDirectory) -> Bool {
    watcher != nil && !watches.values.contains(what)
  }

  /// Whether events tell of everything that there is.
  var isWatched: Bool {
    let places = (incoming.map { [$0] } ?? []) + hotFolders.values
    return watcher != nil && !lacksWatch(.root) && !places.contains { lacksWatch(.place(recipe: $0.recipe)) }
  }

  /// Makes sure that there is a rescan no later than that.
  func scheduleRescan(after nanoseconds: Int64) {
    let time = DispatchTime.now() + .nanoseconds(Int(clamping: max(0, nanoseconds)))
    guard let timer, time < nextRescan else { return }
    nextRescan = time
    timer.schedule(deadline: time, leeway: .milliseconds(100))
  }

  /// Sorts events into what is to be looked at. Runs between two steps of a pass, and does nothing that blocks.
  func note(_ events: [IncomingEvent]) {
    for event in events {
      if event.says(Int32(bitPattern: UInt32(IN_Q_OVERFLOW))) {
        logger.notice("spool: events were lost; looking at everything")
        counts.overflows += 1
        rescanIsDue = true
      } else if let watched = watches[event.watch] {
        note(event, on: watched)
      }
    }
    if !events.isEmpty { wakeUp() }
  }

  private func note(_ event: IncomingEvent, on watched: WatchedDirectory) {
    if event.says(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) {
      // The directory is gone from its place. What comes in its stead is told by the directory above.
      watches[event.watch] = nil
      watcher?.unwatch(event.watch)
      if watched == .place(recipe: nil) { incoming = nil }
      rescanIsDue = true
      return
    }
    guard let name = event.name, !examiner.partialNames.match(name) else { return }
    switch watched {
    case .root:
      if name == FileName(SpoolDirectories.Folder.incoming.rawValue) { rescanIsDue = true }
    case .place(let recipe):
      if recipe == nil, examiner.recipes.contains(name) {
        rescanIsDue = true
        return
      }
      if event.says(IN_DELETE) { return }
      let isFinished = event.says(IN_MOVED_TO | IN_CLOSE_WRITE)
      if !pending.add(name, recipe: recipe, isFinished ? .finished : .created) { rescanIsDue = true }
      if recipe == nil, isFinished, let ticket = awaited.removeValue(forKey: name),
        !pending.add(ticket, recipe: nil, .found)
      {
        rescanIsDue = true
      }
    }
  }

  /// Looks at what the events named, in their order; what it looked at, and whether it makes sense to go on with others.
  @discardableResult
  func drain() async -> (entries: PendingEntries, goesOn: Bool) {
    let pending = self.pending
    self.pending = PendingEntries()
    for key in pending.keys {
      if Task.isCancelled { break }
      let place = key.recipe.map { hotFolders[$0] } ?? incoming
      guard let place, let trigger = pending.triggers[key] else { continue }
      // The rest is found by the next look at everything.
      guard await consider(key.name, in: place, trigger: trigger) else { return (pending, false) }
    }
    return (pending, await takeRest())
  }
}
