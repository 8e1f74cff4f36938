// A file in `done/` that is imported again has a second name in `active/`, the new job's, as long as that job needs it. Nothing
// is copied, and what removes the first name meanwhile takes nothing away.

import Glibc

extension SpoolDirectories {
  /// Whether a file is kept in `done/`. Blocks.
  package func isDone(_ name: String) throws -> Bool {
    try handle(.done).status(of: FileName(name))?.kind == .regular
  }

  /// Gives a file in `done/` a name in `active/`, durably; on a file system without second names, a copy of it. It does nothing if
  /// it has one already. Blocks.
  /// - Returns: false if the file isn't in `done/`.
  package func replay(_ name: String, as activeName: String) throws -> Bool {
    guard SpoolDirectories.job(ofActiveName: activeName) != nil else { throw SpoolError.notAnActiveName(activeName) }
    let (done, active) = (try handle(.done), try handle(.active))
    let (source, target) = (FileName(name), FileName(activeName))
    guard try active.status(of: target) == nil else { return true }
    guard try isDone(name) else { return false }
    do {
      try done.link(source, to: active, target)
    } catch let error as SpoolError where error.code == ENOENT {
      return false
    } catch let error as SpoolError where error.code == EEXIST {
      return true
    } catch let error as SpoolError where [EPERM, EMLINK, EOPNOTSUPP, ENOSYS].contains(error.code ?? 0) {
      try copy(source, from: done, to: active, target)
    }
    try active.synchronise()
    return true
  }

  private func copy(
    _ name: FileName, from done: DirectoryHandle, to active: DirectoryHandle, _ target: FileName
  ) throws {
    // Complete before it has its name: a start finds what a kill left under the other.
    let file = try done.open(name)
    let part = FileName(".replay-" + target.sanitised)
    try active.remove(part)
    do {
      try file.copy(to: try active.create(part, mode: 0o640), path: active.place(part))
      try active.rename(part, to: active, target)
    } catch {
      try active.remove(part)
      throw error
    }
  }
}
