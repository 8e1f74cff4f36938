// The move of a file into `active/`, after its job is durable (rule 5). What arrives there is the file that was looked
// at and that the job was made for, whatever its name has come to mean since; and it arrives whole or not at all.
//
// On one file system it is a rename. From another it is: copy to `.NAME.part`, fsync, look whether it is whole, rename,
// fsync of `active/`, unlink. Killed before the rename, it begins anew; killed after it, the copy is known by its name,
// which has the job's number, and only the unlink is left to do.

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
      return try moveAcross(name, of: directory, file, to: new)
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
    _ name: FileName, of directory: DirectoryHandle, _ file: OpenFile, to new: FileName
  ) throws {
    // Killed between the copy and the removal, it comes here again: the job may even be done by now.
    if try !isKnown(new) { try copy(file, as: new) }
    try directories.handle(.active).synchronise()
    // What was written to it since is an entry of its own, and so is another file of its name.
    if let there = try directory.status(of: name), there.hasSameContents(as: file.status) { try directory.remove(name) }
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

  private func isKnown(_ name: FileName) throws -> Bool {
    for folder in [SpoolDirectories.Folder.active, .done, .corrupt]
    where try directories.handle(folder).status(of: name) != nil { return true }
    return false
  }
}
