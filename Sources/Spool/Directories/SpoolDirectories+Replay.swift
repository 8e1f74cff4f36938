// A file in `done/` that is imported again has a second name in `active/`, the new job's, as long as that job needs it. Nothing
// is copied, and the job keeps its file even if the first name is removed.

import Glibc

extension SpoolDirectories {
  /// Whether a file, or the folder of a set, is kept in `done/`. Blocks.
  package func isDone(_ name: String) throws -> Bool {
    switch try handle(.done).status(of: FileName(name))?.kind {
    case .regular, .directory: true
    default: false
    }
  }

  /// The names of the files of a set that is kept in `done/`; nil if it is a single file, or isn't there. Blocks.
  package func filesOfDoneSet(_ name: String) throws -> [String]? {
    let done = try handle(.done)
    let folderName = FileName(name)
    guard try done.status(of: folderName)?.kind == .directory, let folder = try done.directory(folderName) else {
      return nil
    }
    var names: [String] = []
    try folder.forEach { file, _ in
      if file != SetName.ticket, let text = file.text { names.append(text) }
    }
    return names.sorted()
  }

  /// Gives a file in `done/` a name in `active/`, durably; on a file system without second names, a copy of it. Of a set, each
  /// file gets one. It does nothing if it has one already. Blocks.
  /// - Returns: false if the file isn't in `done/`.
  package func replay(_ name: String, as activeName: String) throws -> Bool {
    guard SpoolDirectories.job(ofActiveName: activeName) != nil else { throw SpoolError.notAnActiveName(activeName) }
    let (done, active) = (try handle(.done), try handle(.active))
    let (source, target) = (FileName(name), FileName(activeName))
    guard try active.status(of: target) == nil else { return true }
    // Complete before it has its name: what a kill left under the other goes first.
    let part = FileName(".replay-" + target.sanitised)
    try removeReplayed(part, from: active)
    guard let kind = try done.status(of: source)?.kind else { return false }
    do {
      if kind == .directory {
        guard let folder = try done.directory(source) else { return false }
        let copy = try active.directory(part, creatingWith: 0o750)
        try folder.forEach { file, _ in
          if file != SetName.ticket { try Self.link(file, from: folder, to: copy, file) }
        }
        try copy.synchronise()
      } else {
        try Self.link(source, from: done, to: active, part)
      }
      try active.rename(part, to: active, target)
    } catch let error as SpoolError where error.code == ENOENT {
      try removeReplayed(part, from: active)
      return false
    } catch {
      try removeReplayed(part, from: active)
      throw error
    }
    try synchroniseCopy(target, in: active)
    return true
  }

  private func removeReplayed(_ part: FileName, from active: DirectoryHandle) throws {
    if try active.status(of: part)?.kind == .directory {
      try active.removeFolder(part)
    } else {
      try active.remove(part)
    }
  }

  private static func link(
    _ name: FileName, from source: DirectoryHandle, to target: DirectoryHandle, _ newName: FileName
  ) throws {
    do {
      try source.link(name, to: target, newName)
    } catch let error as SpoolError where [EPERM, EMLINK, EOPNOTSUPP, ENOSYS].contains(error.code ?? 0) {
      try source.open(name).copy(to: try target.create(newName, mode: 0o640), path: target.place(newName))
    }
  }
}
