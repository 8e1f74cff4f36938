// The move of a file into `active/`, after its job is durable (rule 5). What arrives there is the file that was looked
// at and that the job was made for, whatever its name has come to mean since; and it arrives whole or not at all.

import Glibc

struct HandOver: Sendable {
  let directories: SpoolDirectories

  /// Moves `name` of `directory`, which was opened as `file`, to `active/`. Blocks.
  /// The caller synchronises both directories.
  func move(_ name: FileName, of directory: DirectoryHandle, _ file: OpenFile, to newName: String) throws {
    let active = try directories.handle(.active)
    let new = FileName(newName)
    do {
      try directory.rename(name, to: active, new)
    } catch let error as SpoolError where error.code == EXDEV {
      // Killed between the copy and the removal, it comes here again: the job may even be done by now.
      if try !isKnown(new) { try copy(file, to: newName) }
      if let there = try directory.status(of: name), there.isSameFile(as: file.status) { try directory.remove(name) }
      return
    } catch let error as SpoolError where error.code == ENOENT {
      // Withdrawn or replaced since the job was made. The job gets what it was made for.
      return try copy(file, to: newName)
    }
    if let moved = try active.status(of: new), !moved.isSameFile(as: file.status) {
      // Another file had taken the name: it is an entry of its own, and goes back.
      try active.rename(new, to: directory, name)
      try copy(file, to: newName)
    }
  }

  /// Copies an open file to `active/`, under a dot name until the copy is whole and on disk. Blocks.
  func copy(_ file: OpenFile, to newName: String) throws {
    let active = try directories.handle(.active)
    let part = FileName(".\(newName).part")
    try active.remove(part)
    let copy = try active.create(part, mode: 0o640)
    do {
      try file.copy(to: copy, path: active.place(part))
      try active.rename(part, to: active, FileName(newName))
    } catch {
      try active.remove(part)
      throw error
    }
  }

  private func isKnown(_ name: FileName) throws -> Bool {
    for folder in [SpoolDirectories.Folder.active, .done, .corrupt]
    where try directories.handle(folder).status(of: name) != nil { return true }
    return false
  }
}
