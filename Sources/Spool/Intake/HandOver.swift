// The move of a file into `active/`, after its job is durable (rule 5). What arrives there is the file that was looked
// at and that the job was made for, whatever its name has come to mean since; and it arrives whole or not at all.
//
// On one file system it is a rename. From another it is: copy to `.NAME.part`, fsync, look whether it is whole, rename,
// fsync of `active/`, unlink. Killed before the rename, it begins anew; killed after it, only the unlink is left to do, and a
// note that was written first says of which entry (`HandOverRest`).

import Glibc
import Synchronization

final class HandOver: Sendable {
  private let directories: SpoolDirectories
  /// The notes of what was removed, until that is on disk.
  private let rests = Mutex<[FileName]>([])

  init(directories: SpoolDirectories) { self.directories = directories }

  /// Moves `name` of `place`, which was opened as `file`, to `active/`. Blocks.
  /// The caller synchronises both directories.
  func move(_ name: FileName, of place: SpoolPlace, _ file: OpenFile, to newName: String) throws {
    let (active, directory) = (try directories.handle(.active), place.directory)
    let new = FileName(newName)
    do {
      try directory.rename(name, to: active, new)
    } catch let error as SpoolError where error.code == EXDEV {
      return try moveAcross(name, of: place, file, to: new)
    } catch let error as SpoolError where error.code == ENOENT {
      // Withdrawn or replaced since the job was made. The job gets what it was made for.
      return try copy(file, to: newName)
    }
    if let moved = try active.status(of: new), !moved.isSameFile(as: file.status) {
      // Another file had taken the name: it is an entry of its own, and goes back.
      try putBack(new, of: active, to: directory, name)
      try copy(file, to: newName)
    }
  }

  private func putBack(
    _ new: FileName, of active: DirectoryHandle, to directory: DirectoryHandle, _ name: FileName
  ) throws {
    while true {
      let number = try FreeName.number { number in
        try directory.status(of: FileName(FreeName.numbered(name.text ?? name.sanitised, number))) != nil
      }
      do {
        let free = FileName(FreeName.numbered(name.text ?? name.sanitised, number))
        return try active.rename(new, to: directory, free)
      } catch let error as SpoolError where error.code == EEXIST {
        // A third file has come.
        continue
      }
    }
  }

  private func moveAcross(
    _ name: FileName, of place: SpoolPlace, _ file: OpenFile, to new: FileName
  ) throws {
    let (active, directory) = (try directories.handle(.active), place.directory)
    // If it couldn't be removed, it comes here again: the job may even be done by now.
    if try !isKnown(new) {
      let (rest, note) = (
        HandOverRest(recipe: place.recipe, name: name, mark: FileMark(file)), HandOverRest.name(of: new)
      )
      try write(rest, as: note, in: active)
      do {
        try copy(file, as: new)
      } catch {
        try active.remove(note)
        throw error
      }
    }
    try active.synchronise()
    // What was written to it since is an entry of its own, and so is another file of its name.
    if let there = try directory.status(of: name), there.hasSameContents(as: file.status) { try directory.remove(name) }
    rests.withLock { $0.append(HandOverRest.name(of: new)) }
  }

  private func write(_ rest: HandOverRest, as name: FileName, in active: DirectoryHandle) throws {
    try active.remove(name)
    let file = try active.create(name, mode: 0o600)
    try rest.bytes.withUnsafeBytes { try file.write($0, at: 0, path: active.place(name)) }
    try file.synchronise(path: active.place(name))
    try active.synchronise()
  }

  /// Forgets what was to be removed: it is, and that is on disk. Blocks.
  func forgetRests() throws {
    let active = try directories.handle(.active)
    while let name = rests.withLock({ $0.last }) {
      try active.remove(name)
      rests.withLock { $0.removeAll { $0 == name } }
    }
  }

  /// Removes the entry that `target` is a copy of, as its note says, if the copy is whole and the entry is still there; then
  /// the note. Blocks.
  /// - Parameter place: where a recipe's entries are handed over, if that is there.
  /// - Returns: whether the copy was whole, so that its job may hear of it.
  func removeRest(of target: FileName, from place: (_ recipe: String?) -> SpoolPlace?) throws -> Bool {
    let isWhole = try isKnown(target)
    if isWhole, let rest = try rest(of: target) {
      // In a folder that comes back it would be known by its identity.
      if let directory = place(rest.recipe)?.directory, try FileMark(of: rest.name, in: directory) == rest.mark {
        try directory.remove(rest.name)
        try directory.synchronise()
      }
    }
    try directories.handle(.active).remove(HandOverRest.name(of: target))
    return isWhole
  }

  /// The entry that a note says is still to be removed, or nil if the note isn't whole or isn't there. Blocks.
  func rest(of target: FileName) throws -> HandOverRest? {
    let active = try directories.handle(.active)
    let note = HandOverRest.name(of: target)
    return HandOverRest(bytes: try active.open(note).read(atMost: HandOverRest.longest, path: active.place(note)))
  }

  /// Copies an open file to `active/`, under a dot name until the copy is whole and on disk. Blocks.
  func copy(_ file: OpenFile, to newName: String) throws {
    try copy(file, as: FileName(newName))
  }

  private func copy(_ file: OpenFile, as new: FileName) throws {
    let active = try directories.handle(.active)
    let room = try active.room()
    guard file.status.allocated <= room else {
      throw SpoolError.noRoom(path: active.place(new), bytes: file.status.allocated, room: room)
    }
    let part = FileName(".\(new.text ?? "copy").part")
    directories.copying.withLock { _ = $0.insert(part) }
    defer { directories.copying.withLock { _ = $0.remove(part) } }
    try active.remove(part)
    let copy = try active.create(part, mode: 0o640)
    do {
      try file.copy(to: copy, path: active.place(part))
      try active.rename(part, to: active, new)
    } catch {
      try active.remove(part)
      throw error
    }
  }

  /// Whether a job has its file, or has had it.
  func isKnown(_ name: FileName) throws -> Bool {
    for folder in [SpoolDirectories.Folder.active, .done, .corrupt]
    where try directories.handle(folder).status(of: name) != nil { return true }
    return false
  }
}
