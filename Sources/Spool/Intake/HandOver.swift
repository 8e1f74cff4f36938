// The move of a file into `active/`, after its job is durable (rule 5, ARCHITECTURE.md). The file that arrives there is the
// one that was examined and that the job was made for, whatever its name has come to mean since. It arrives whole or not at
// all.
//
// Within one file system the move is a rename. From another it is: copy to `.NAME.part`, fsync, check that the copy is whole,
// rename, fsync of `active/`, unlink. A kill before the rename starts the copy over. A kill after it leaves only the unlink
// to do, and a note written before the copy says which entry to unlink (`RemovalNote`).

import Glibc
import Synchronization

/// Moves files into `active/`. All methods block.
final class HandOver: Sendable {
  private let directories: SpoolDirectories
  /// What isn't durable yet.
  private let unsynchronised = Mutex(Unsynchronised())

  private struct Unsynchronised {
    /// The directories that files were moved out of.
    var sources: [ObjectIdentifier: DirectoryHandle] = [:]
    /// The notes of entries that were unlinked.
    var notes: [FileName] = []
  }

  init(directories: SpoolDirectories) { self.directories = directories }

  /// Moves `name` of `place`, which was opened as `file`, to `active/`. The move is durable after ``synchronise()``.
  func move(_ name: FileName, of place: SpoolPlace, _ file: OpenFile, to newName: String) throws {
    let (active, directory) = (try directories.handle(.active), place.directory)
    unsynchronised.withLock { $0.sources[ObjectIdentifier(directory)] = directory }
    let new = FileName(newName)
    do {
      try directory.rename(name, to: active, new)
    } catch let error as SpoolError where error.code == EXDEV {
      return try moveAcross(name, of: place, file, to: new)
    } catch let error as SpoolError where error.code == ENOENT {
      // Removed or replaced since the job was made. The job gets what it was made for.
      return try copy(file, to: newName)
    }
    if let moved = try active.status(of: new), !moved.isSameFile(as: file.status) {
      // Another file had taken the name: it is an entry of its own, and goes back.
      try FreeName.claim(name.text ?? name.sanitised) { free in
        try directory.status(of: free) != nil
      } claim: { free in
        try active.rename(new, to: directory, free)
      }
      try copy(file, to: newName)
    }
  }

  private func moveAcross(_ name: FileName, of place: SpoolPlace, _ file: OpenFile, to new: FileName) throws {
    let (active, directory) = (try directories.handle(.active), place.directory)
    let noteName = RemovalNote.name(of: new)
    // An entry that couldn't be removed comes here again: its job may even have ended by now.
    if try !isKnown(new) {
      try write(RemovalNote(recipe: place.recipe, name: name, mark: FileMark(file)), as: noteName, in: active)
      do {
        try copy(file, as: new)
      } catch {
        try active.remove(noteName)
        throw error
      }
    }
    try active.synchronise()
    // If the file was written to since, or another file has its name, that is an entry of its own.
    if let there = try directory.status(of: name), there.hasSameContents(as: file.status) { try directory.remove(name) }
    unsynchronised.withLock { $0.notes.append(noteName) }
  }

  /// Moves the folder of a set to `active/`. As for a file, the move is durable after ``synchronise()``.
  func move(_ set: GatheredSet, of place: SpoolPlace, to newName: String) throws {
    let (active, directory, new) = (try directories.handle(.active), place.directory, FileName(newName))
    unsynchronised.withLock { $0.sources[ObjectIdentifier(directory)] = directory }
    do {
      try directory.rename(set.folderName, to: active, new)
    } catch let error as SpoolError where error.code == EXDEV {
      return try moveAcross(set, of: place, to: new)
    }
    guard let moved = try active.status(of: new), try moved.isSameFile(as: set.folder.status()) else {
      throw SpoolError.changed(path: directory.place(set.folderName))
    }
  }

  /// The same steps as of a file.
  private func moveAcross(_ set: GatheredSet, of place: SpoolPlace, to new: FileName) throws {
    let active = try directories.handle(.active)
    let noteName = RemovalNote.name(of: new)
    if try !isKnown(new) {
      try write(RemovalNote(recipe: place.recipe, name: set.folderName, mark: set.mark), as: noteName, in: active)
      do {
        try copy(set.files.map { FileName($0) }, as: new) { try set.folder.open(FileName(set.files[$0])) }
      } catch {
        try active.remove(noteName)
        throw error
      }
    }
    try active.synchronise()
    if try FileMark(of: set.folderName, in: place.directory) == set.mark {
      try Self.discard(set.folderName, in: place.directory)
    }
    unsynchronised.withLock { $0.notes.append(noteName) }
  }

  /// Copies files to a folder in `active/`, under a dot name until all of them are whole and on disk.
  /// - Parameter open: opens one of them, by its place among the names.
  func copy(_ names: [FileName], as new: FileName, open: (Int) throws -> OpenFile) throws {
    let active = try directories.handle(.active)
    let part = FileName(".\(new.text ?? "copy").part")
    try directories.withCopy(in: part) {
      try active.removeFolder(part)
      do {
        let target = try active.directory(part, creatingWith: 0o750)
        for (place, name) in names.enumerated() {
          let file = try open(place)
          let room = try active.room()
          guard file.status.allocated <= room else {
            throw SpoolError.noRoom(path: active.place(new), bytes: file.status.allocated, room: room)
          }
          try file.copy(to: target.create(name, mode: 0o640), path: target.place(name))
        }
        try target.synchronise()
        try active.rename(part, to: active, new)
      } catch {
        try active.removeFolder(part)
        throw error
      }
    }
  }

  /// Removes the folder of a set that was copied. First its name says so, since without some of its files it would be another
  /// set.
  private static func discard(_ folder: FileName, in directory: DirectoryHandle) throws {
    let stem = SetName.parts(of: folder)?.name ?? folder
    var taken = SetName.folder(stem, .taken)
    try FreeName.claim(stem.text ?? stem.sanitised) { free in
      try directory.status(of: SetName.folder(free, .taken)) != nil
    } claim: { free in
      taken = SetName.folder(free, .taken)
      try directory.rename(folder, to: directory, taken)
    }
    try directory.synchronise()
    try directory.removeFolder(taken)
  }

  private func write(_ note: RemovalNote, as name: FileName, in active: DirectoryHandle) throws {
    try active.remove(name)
    let file = try active.create(name, mode: 0o600)
    try note.bytes.withUnsafeBytes { try file.write($0, at: 0, path: active.place(name)) }
    try file.synchronise(path: active.place(name))
    try active.synchronise()
  }

  /// Makes the moves so far durable (step 6), then deletes the notes of what was unlinked.
  func synchronise() throws {
    let active = try directories.handle(.active)
    try active.synchronise()
    let sources = unsynchronised.withLock { $0.sources }
    for directory in sources.values { try directory.synchronise() }
    unsynchronised.withLock { $0.sources = [:] }
    while let note = unsynchronised.withLock({ $0.notes.last }) {
      try active.remove(note)
      unsynchronised.withLock { $0.notes.removeAll { $0 == note } }
    }
  }

  /// Unlinks the entry that `target` is a copy of, as its note says, if the copy is whole and the entry is still there; then
  /// deletes the note.
  /// - Parameter place: a recipe's hot folder, if it exists.
  /// - Returns: whether the copy was whole, so that its job can start.
  func finishRemoval(of target: FileName, in place: (_ recipe: String?) -> SpoolPlace?) throws -> Bool {
    let isWhole = try isKnown(target)
    if isWhole, let note = try note(of: target) {
      // An entry in a hot folder that comes back later is recognised by its identity.
      if let directory = place(note.recipe)?.directory, try FileMark(of: note.name, in: directory) == note.mark {
        if try directory.status(of: note.name)?.kind == .directory {
          try Self.discard(note.name, in: directory)
        } else {
          try directory.remove(note.name)
        }
        try directory.synchronise()
      }
    }
    try directories.handle(.active).remove(RemovalNote.name(of: target))
    return isWhole
  }

  /// The note that belongs to a copy, or nil if the note is incomplete or missing.
  func note(of target: FileName) throws -> RemovalNote? {
    let active = try directories.handle(.active)
    let name = RemovalNote.name(of: target)
    return RemovalNote(bytes: try active.open(name).read(atMost: RemovalNote.longest, path: active.place(name)))
  }

  /// Copies an open file to `active/`, under a dot name until the copy is whole and on disk.
  func copy(_ file: OpenFile, to newName: String, complete: ((_ copy: Int32) throws -> Void)? = nil) throws {
    try copy(file, as: FileName(newName), complete: complete)
  }

  private func copy(_ file: OpenFile, as new: FileName, complete: ((_ copy: Int32) throws -> Void)? = nil) throws {
    let active = try directories.handle(.active)
    let room = try active.room()
    guard file.status.allocated <= room else {
      throw SpoolError.noRoom(path: active.place(new), bytes: file.status.allocated, room: room)
    }
    let part = FileName(".\(new.text ?? "copy").part")
    try directories.withCopy(in: part) {
      try active.remove(part)
      let copy = try active.create(part, mode: 0o640)
      do {
        try file.copy(to: copy, path: active.place(part))
        if let complete {
          try complete(copy.number)
          try copy.synchronise(path: active.place(part))
          try file.checkUnchanged(path: active.place(part))
        }
        try active.rename(part, to: active, new)
      } catch {
        try active.remove(part)
        throw error
      }
    }
  }

  /// Whether a job has or has had its file.
  func isKnown(_ name: FileName) throws -> Bool {
    for folder in [SpoolDirectories.Folder.active, .done, .corrupt]
    where try directories.handle(folder).status(of: name) != nil { return true }
    return false
  }
}

/// A note of an entry that is to be unlinked after it was copied from another file system: a file beside the copy in
/// `active/`, written before the copy has its name. The entry is unlinked after the copy is there, and the note deleted when
/// that is durable. So after a kill the note says whether an entry that still lies there was taken, and another entry that
/// has come under its name is never mistaken for it.
struct RemovalNote: Equatable {
  /// The hot folder's recipe; nil for `incoming/` itself.
  let recipe: String?
  let name: FileName
  let mark: FileMark

  /// The name of the note of the copy that is to be called `target`.
  static func name(of target: FileName) -> FileName { FileName(".\(target.text ?? "copy")\(suffix)") }

  /// The name of the copy that a note in `active/` belongs to, or nil if the name isn't a note's.
  static func target(ofName name: FileName) -> FileName? {
    guard let text = name.text, text.hasPrefix("."), text.hasSuffix(suffix) else { return nil }
    return FileName(String(text.dropFirst().dropLast(suffix.count)))
  }

  private static let suffix = ".rest"
  static let longest = 4096

  var bytes: [UInt8] { Array((recipe ?? "").utf8) + [0] + Array(name.bytes) + [0] + Array(mark.description.utf8) }

  init(recipe: String?, name: FileName, mark: FileMark) {
    (self.recipe, self.name, self.mark) = (recipe, name, mark)
  }

  /// Nil for an incomplete note, as a failing disk leaves it.
  init?(bytes: [UInt8]) {
    let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[1].isEmpty, let recipe = String(validating: parts[0], as: UTF8.self),
      let mark = String(validating: parts[2], as: UTF8.self)
    else { return nil }
    self.recipe = recipe.isEmpty ? nil : recipe
    name = FileName(terminated: parts[1].map { CChar(bitPattern: $0) } + [0])
    self.mark = FileMark(text: mark)
  }
}
