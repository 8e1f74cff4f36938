import Dispatch
import Glibc

/// A place where entries are handed over: `incoming/` itself, or a recipe's hot folder in it.
struct SpoolPlace: Sendable {
  let directory: DirectoryHandle
  /// Nil for `incoming/` itself.
  let recipe: String?

  /// An entry's name, relative to `incoming/`.
  func relativeName(_ name: FileName) -> String {
    recipe.map { $0 + "/" + name.shown } ?? name.shown
  }
}

/// What an inotify watch is on.
enum WatchedDirectory: Hashable, Sendable {
  /// The spool's root, because `incoming/` may be replaced.
  case root
  /// `incoming/`, or a recipe's hot folder in it.
  case place(recipe: String?)
}

/// `incoming/` and the hot folders in it: creates them, holds them open, watches them, and notices when one is moved away or
/// replaced.
///
/// Not `Sendable`: it is confined to the intake's queue.
final class IncomingFolders {
  private let directories: SpoolDirectories
  private let report: IntakeReport
  private let schedule: ScanSchedule
  private let corrupt: CorruptFolder
  private var settings: SpoolSettings

  private var hotFolders: [String: SpoolPlace] = [:]
  private var watcher: IncomingWatcher?
  private var mountWatcher: MountWatcher?
  private var watches: [Int32: WatchedDirectory] = [:]
  private var watchedRoot: DirectoryHandle?
  /// The places that have existed during this run, and when a missing one was first missed.
  private var seen: Set<WatchedDirectory> = []
  private var missingSince: [WatchedDirectory: DispatchTime] = [:]

  /// `incoming/`, while it exists.
  private(set) var incoming: SpoolPlace?

  init(
    directories: SpoolDirectories, settings: SpoolSettings, report: IntakeReport, schedule: ScanSchedule,
    corrupt: CorruptFolder
  ) {
    self.directories = directories
    self.settings = settings
    self.report = report
    self.schedule = schedule
    self.corrupt = corrupt
  }

  /// All places where entries may lie.
  var all: [SpoolPlace] { (incoming.map { [$0] } ?? []) + hotFolders.values }

  /// A recipe's hot folder, or `incoming/` itself for nil; nil while it doesn't exist.
  func place(of recipe: String?) -> SpoolPlace? {
    guard let recipe else { return incoming }
    return hotFolders[recipe]
  }

  // MARK: Watching

  /// Begins to watch. The handlers run on the queue.
  func startWatching(
    on executor: SpoolExecutor, events: @escaping @Sendable ([IncomingEvent]) -> Void,
    mountsChanged: @escaping @Sendable () -> Void
  ) {
    do {
      watcher = try IncomingWatcher(on: executor, handler: events)
      watchedRoot = directories.root
      watch(directories.root, .root)
      mountWatcher = try MountWatcher(queue: executor.queue, handler: mountsChanged)
      report.update { $0.eventTrouble = nil }
    } catch {
      report.eventsUnavailable(error, at: nil, interval: settings.timing.rescanInterval)
    }
  }

  /// Ends watching, and closes the folders: the next run opens and watches them again.
  func stopWatching() {
    watcher = nil
    mountWatcher = nil
    watchedRoot = nil
    watches = [:]
    incoming = nil
    hotFolders = [:]
    (seen, missingSince) = ([], [:])
  }

  /// The events that the kernel holds now, without waiting for the queue's turn.
  func readEvents() -> [IncomingEvent] { watcher?.readNow() ?? [] }

  /// The directory that an event is about; nil if its watch has ended.
  func directory(of event: IncomingEvent) -> WatchedDirectory? { watches[event.watch] }

  /// A watched directory is no longer in its place. Events of the directory above tell what replaces it.
  func watchEnded(_ event: IncomingEvent) {
    guard let directory = watches.removeValue(forKey: event.watch) else { return }
    watcher?.unwatch(event.watch)
    if directory == .place(recipe: nil) { incoming = nil }
  }

  /// Whether events report everything that arrives in a place.
  func isWatched(_ place: SpoolPlace) -> Bool { watcher != nil && !lacksWatch(.place(recipe: place.recipe)) }

  /// Whether events report everything that arrives anywhere.
  private var isEverythingWatched: Bool {
    watcher != nil && !lacksWatch(.root) && all.allSatisfy { isWatched($0) }
  }

  /// Whether a directory should be watched and isn't: it was opened before watching began, or no watches were left.
  private func lacksWatch(_ directory: WatchedDirectory) -> Bool {
    watcher != nil && !watches.values.contains(directory)
  }

  /// Watches a directory instead of the one that was in its place before.
  private func watch(_ handle: DirectoryHandle, _ directory: WatchedDirectory) {
    guard let watcher else { return }
    do {
      let watch = try watcher.watch(handle, isRoot: directory == .root)
      for (earlier, other) in watches where other == directory && earlier != watch {
        watches[earlier] = nil
        watcher.unwatch(earlier)
      }
      watches[watch] = directory
    } catch {
      report.eventsUnavailable(error, at: handle.path, interval: settings.timing.rescanInterval)
    }
  }

  // MARK: Opening

  /// Adopts new settings. A hot folder of a recipe that is gone becomes a folder like any other in `incoming/`.
  func reconfigure(_ new: SpoolSettings) {
    let gone = Set(settings.recipes).subtracting(new.recipes)
    settings = new
    for recipe in gone {
      hotFolders[recipe] = nil
      let place = WatchedDirectory.place(recipe: recipe)
      for (watch, watched) in watches where watched == place {
        watches[watch] = nil
        watcher?.unwatch(watch)
      }
      seen.remove(place)
      missingSince[place] = nil
    }
  }

  /// Makes sure that the directories held open and watched are the ones that now have these names, and creates missing ones:
  /// at the start at once. A directory that disappears later gets time to come back, because a program that moves one away
  /// may be about to put another in its place.
  func refresh() throws {
    let hasIncoming = try directories.refresh(makesIncoming: false)
    if directories.root !== watchedRoot {
      watchedRoot = directories.root
      watch(directories.root, .root)
    }
    guard try hasIncoming || (mayCreate(.place(recipe: nil)) && directories.refresh()) else {
      incoming = nil
      hotFolders = [:]
      return
    }
    let directory = try directories.handle(.incoming)
    let incoming = SpoolPlace(directory: directory, recipe: nil)
    if self.incoming?.directory !== directory || lacksWatch(.place(recipe: nil)) {
      if self.incoming?.directory !== directory { hotFolders = [:] }
      self.incoming = incoming
      watch(directory, .place(recipe: nil))
    }
    exists(.place(recipe: nil))
    for recipe in settings.recipes { refresh(recipe, in: incoming) }
    if report.status.eventTrouble != nil, isEverythingWatched { report.update { $0.eventTrouble = nil } }
  }

  private func refresh(_ recipe: String, in incoming: SpoolPlace) {
    let name = FileName(recipe)
    let watched = WatchedDirectory.place(recipe: recipe)
    do {
      let there = try incoming.directory.status(of: name)
      if let held = hotFolders[recipe], !lacksWatch(watched), let there,
        there.isSameFile(as: try held.directory.status())
      {
        return
      }
      guard there != nil || mayCreate(watched) else {
        hotFolders[recipe] = nil
        return
      }
      let opened = try open(name, in: incoming)
      hotFolders[recipe] = SpoolPlace(directory: opened, recipe: recipe)
      watch(opened, watched)
      exists(watched)
    } catch {
      hotFolders[recipe] = nil
      report.failed(error, at: "incoming/\(recipe)")
    }
  }

  private func exists(_ directory: WatchedDirectory) {
    seen.insert(directory)
    missingSince[directory] = nil
  }

  /// Whether a missing directory may be created now.
  private func mayCreate(_ directory: WatchedDirectory) -> Bool {
    guard seen.contains(directory) else { return true }
    let now = DispatchTime.now()
    let since = missingSince[directory] ?? now
    missingSince[directory] = since
    let age = Int64(clamping: now.uptimeNanoseconds - since.uptimeNanoseconds)
    let settle = settings.timing.settle.nanoseconds
    if age >= settle { return true }
    schedule.scan(after: settle - age)
    return false
  }

  private func open(_ name: FileName, in incoming: SpoolPlace) throws -> DirectoryHandle {
    let mode = SpoolDirectories.Folder.incoming.mode
    do {
      return try incoming.directory.directory(name, creatingWith: mode)
    } catch SpoolError.notADirectory {
      let status = try incoming.directory.status(of: name)
      let file = SpoolRefusal.unacceptable(
        what: "it is a file with the name of the hot folder of the recipe “\(name.shown)”",
        advice: "Put the file into that folder, which now exists.")
      try corrupt.take(name, from: incoming, status.flatMap { EntryExaminer.refusal(of: $0.kind) } ?? file)
      return try incoming.directory.directory(name, creatingWith: mode)
    }
  }
}
