// The way back: the file of a job that has ended and is tried again. As everywhere, nothing is overwritten, and what is
// moved is looked at first: only a plain file of the daemon's own has been put away by it.

import Glibc

extension SpoolDirectories {
  /// Moves a job's file from `corrupt/` or `done/` back to `active/`, and takes its reason away. On return the move is on disk.
  /// Blocks.
  /// - Parameter activeName: what it is called in `active/`.
  /// - Returns: false when it isn't there; true also when it is in `active/` already.
  package func reclaim(_ activeName: String) throws -> Bool {
    guard SpoolDirectories.job(ofActiveName: activeName) != nil else { throw SpoolError.notAnActiveName(activeName) }
    let name = FileName(activeName)
    let active = try handle(.active)
    if try active.status(of: name) != nil { return true }
    for folder in [Folder.corrupt, .done] {
      let directory = try handle(folder)
      guard let status = try directory.status(of: name), status.kind == .regular, status.links == 1 else { continue }
      try directory.rename(name, to: active, name)
      try active.synchronise()
      try directory.remove(FileName(activeName + ".reason"))
      try directory.synchronise()
      return true
    }
    return false
  }
}
