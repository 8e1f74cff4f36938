import Dispatch
import Glibc

extension SpoolIntake {
  /// Makes sure that the directories are the ones that are held open and watched, and makes those that are missing: at the
  /// start at once. One that vanishes later is given time to come back, for whoever moves a directory away may be about to
  /// put one in its place.
  func refreshPlaces() throws {
    let hasIncoming = try directories.refresh(makesIncoming: false)
    if directories.root !== watchedRoot {
      watchedRoot = directories.root
      watch(directories.root, .root)
    }
    guard try hasIncoming || (mayMake(.place(recipe: nil)) && directories.refresh()) else {
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
    isThere(.place(recipe: nil))
    for recipe in recipes { refresh(recipe, in: incoming) }
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
      guard there != nil || mayMake(watched) else {
        hotFolders[recipe] = nil
        return
      }
      let opened = try openHotFolder(name, in: incoming)
      hotFolders[recipe] = SpoolPlace(directory: opened, recipe: recipe)
      watch(opened, watched)
      isThere(watched)
    } catch {
      hotFolders[recipe] = nil
      _ = report(error, at: "incoming/\(recipe)")
    }
  }

  private func isThere(_ place: WatchedDirectory) {
    placesSeen.insert(place)
    placesGone[place] = nil
  }

  /// Whether a directory that is missing may be made now.
  private func mayMake(_ place: WatchedDirectory) -> Bool {
    guard placesSeen.contains(place) else { return true }
    let now = DispatchTime.now()
    let since = placesGone[place] ?? now
    placesGone[place] = since
    let age = Int64(clamping: now.uptimeNanoseconds - since.uptimeNanoseconds)
    if age >= timing.settle.nanoseconds { return true }
    scheduleRescan(after: timing.settle.nanoseconds - age)
    return false
  }

  private func openHotFolder(_ name: FileName, in incoming: SpoolPlace) throws -> DirectoryHandle {
    let mode = SpoolDirectories.Folder.incoming.mode
    do {
      return try incoming.directory.directory(name, creatingWith: mode)
    } catch SpoolError.notADirectory {
      let status = try incoming.directory.status(of: name)
      let file = SpoolRefusal.unacceptable(
        what: "it is a file, and has the name of the hot folder of the recipe “\(name.shown)”",
        advice: "Put the file into that folder, which is there now.")
      try refuse(name, in: incoming, status.flatMap { EntryExaminer.refusal(of: $0.kind) } ?? file)
      return try incoming.directory.directory(name, creatingWith: mode)
    }
  }
}
