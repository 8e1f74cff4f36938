import Glibc

extension SpoolIntake {
  /// Moves an entry to `corrupt/`, whatever it is, with the reason beside it. Nothing is opened or followed.
  func refuse(_ name: FileName, in place: SpoolPlace, _ refusal: SpoolRefusal) throws {
    guard let status = try place.directory.status(of: name) else { return }
    let relative = "incoming/" + place.relativeName(name)
    let reason = SpoolReason(
      place: relative, status: status, code: refusal.code, reason: refusal.description)
    let corrupt = try directories.handle(.corrupt)
    let kept = try directories.put(corrupt, like: name.sanitised, withReason: reason.text) { directory, free in
      do {
        try place.directory.rename(name, to: directory, free)
      } catch let error as SpoolError where error.code == EXDEV {
        try refuseAcross(name, in: place, status, to: directory, free)
      }
    }
    try corrupt.synchronise()
    try place.directory.synchronise()
    counts.refused += 1
    logger.notice(
      "spool: refused: \(refusal)", metadata: ["entry": "\(relative)", "kept": "corrupt/\(kept)"])
  }

  /// Where `corrupt/` is on another file system than `incoming/`, a file is copied. What isn't one, or can't be read,
  /// stays in its directory as `.refused-NAME`, where nothing looks at it again.
  private func refuseAcross(
    _ name: FileName, in place: SpoolPlace, _ status: FileStatus, to corrupt: DirectoryHandle, _ free: FileName
  ) throws {
    if status.kind == .regular, let file = try readable(name, in: place) {
      do {
        try file.copy(to: try corrupt.create(free, mode: 0o640), path: corrupt.place(free))
        return try place.directory.remove(name)
      } catch {
        try corrupt.remove(free)
        throw error
      }
    }
    try place.directory.rename(name, to: place.directory, FileName(".refused-" + (free.text ?? "entry")))
  }

  private func readable(_ name: FileName, in place: SpoolPlace) throws -> OpenFile? {
    do {
      return try place.directory.open(name)
    } catch let error as SpoolError where [EACCES, EPERM, ELOOP].contains(error.code) {
      return nil
    }
  }
}
