// Files that came to another host's spool, and whose bytes travel through the queue's database. Their names are those that they have
// there, which the other daemon made.

import Glibc
package import LadeTypes

extension SpoolDirectories {
  /// Brings a file of another host to `active/`, unless it is there: under a dot name until it is whole and on disk. A file of
  /// this host that was put away and whose job is tried again comes back. Blocks.
  /// - Parameter copy: writes the bytes to a descriptor, and checks them.
  /// - Throws: `SpoolError.noRoom`, also before anything was written; what `copy` throws. Nothing is in `active/` then.
  package func receive(
    _ activeName: String, _ file: SharedFile, copy: (_ descriptor: Int32) throws -> Void
  ) throws {
    let isThere = try reclaim(activeName)
    let (active, name) = (try handle(.active), FileName(activeName))
    if isThere, let status = try active.status(of: name) {
      guard status.kind == .regular else { throw SpoolError.changed(path: active.place(name)) }
      if status.size == file.size, status.modified == file.modified { return }
    }
    let room = try active.room()
    guard file.size <= room else { throw SpoolError.noRoom(path: active.place(name), bytes: file.size, room: room) }
    let part = FileName(".\(activeName).part")
    try withCopy(in: part) {
      try active.remove(part)
      let target = try active.create(part, mode: 0o640)
      do {
        try copy(target.number)
        try target.setModified(file.modified, path: active.place(part))
        try target.synchronise(path: active.place(part))
        // A loss of power may have had this host's own file handed over again, with another time.
        if isThere { try active.remove(name) }
        try active.rename(part, to: active, name)
      } catch {
        try active.remove(part)
        throw error
      }
    }
    try synchroniseCopy(name, in: active)
  }

  /// Removes a file of another host from `active/`, if it is there. Blocks.
  package func discardReceived(_ activeName: String) throws {
    guard Self.job(ofActiveName: activeName) != nil else { throw SpoolError.notAnActiveName(activeName) }
    let active = try handle(.active)
    guard try active.status(of: FileName(activeName)) != nil else { return }
    try active.remove(FileName(activeName))
    try active.synchronise()
  }
}

extension SpoolDirectories {
  /// Removes what this daemon has in `active/` of a job that a daemon on another host has taken over with its entry: nothing of
  /// the entry in the shared folder is this daemon's any more. Before the intake runs. Blocks.
  /// - Parameter keepsFile: whether the file may be one that was fetched since.
  package func discardHandOver(_ activeName: String, of job: Int64, keepsFile: Bool) throws {
    let active = try handle(.active)
    let (file, ticket) = (FileName(activeName), FileName(Self.ticketName(job: job)))
    for name in [RemovalNote.name(of: file), RemovalNote.name(of: ticket), ticket] { try active.remove(name) }
    if !keepsFile { try active.remove(file) }
    try active.synchronise()
  }
}

extension OwnedDescriptor {
  /// Sets the time at which the file was last written to, in nanoseconds since 1970.
  fileprivate func setModified(_ time: Int64, path: String) throws {
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
    let modified =
      rest < 0
      ? timespec(tv_sec: Int(seconds) - 1, tv_nsec: Int(rest) + 1_000_000_000)
      : timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    guard futimens(number, [modified, modified]) == 0 else {
      throw SpoolError.system(call: "futimens", path: path, code: errno)
    }
  }
}
