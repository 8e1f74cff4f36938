import Glibc

extension SpoolIntake {
  /// Moves an entry to `corrupt/`, whatever it is, with the reason beside it. Nothing is opened or followed.
  func refuse(_ name: FileName, in place: SpoolPlace, _ refusal: SpoolRefusal) throws {
    guard let status = try place.directory.status(of: name) else { return }
    let relative = "incoming/" + place.relativeName(name)
    let corrupt = try directories.handle(.corrupt)
    try checkRoom(in: corrupt)
    let reason = SpoolReason(
      place: relative, status: status, code: refusal.code, reason: refusal.description)
    let kept = try directories.put(corrupt, like: name.sanitised, withReason: reason.text) { directory, free in
      do {
        try place.directory.rename(name, to: directory, free)
      } catch let error as SpoolError where error.code == EXDEV {
        try refuseAcross(name, in: place, status, to: directory, free)
      } catch let error as SpoolError where error.code == EACCES || error.code == EPERM {
        // A directory can only be moved elsewhere by who may write to it.
        try setAside(name, in: place)
      }
    }
    try corrupt.synchronise()
    try place.directory.synchronise()
    refusedNow += 1
    counts.refused += 1
    if failures.succeeded(at: relative) || failures.succeeded(at: "corrupt/") {
      logger.notice("spool: goes on", metadata: ["entry": "\(relative)"])
    }
    logger.notice(
      "spool: refused: \(refusal)",
      metadata: [
        "entry": "\(relative)", "kept": "corrupt/\(kept)", "code": "\(refusal.code)",
        "event": "\(SpoolLogEvent.refused.rawValue)",
      ])
  }

  /// Each `.reason` is the daemon's file, and no quota of the submitter's bounds them.
  private func checkRoom(in corrupt: DirectoryHandle) throws {
    let limit = rules.corruptLimit
    if let known = corruptCount, known + refusedNow < limit { return }
    if corruptCount != nil, corruptCountIsOfThisPass { throw SpoolError.corruptIsFull(limit: limit) }
    var count = 0
    try corrupt.forEach { name, _ in
      if !name.bytes.reversed().starts(with: ".reason".utf8.reversed()) { count += 1 }
    }
    corruptCount = count
    refusedNow = 0
    corruptCountIsOfThisPass = true
    if count >= limit { throw SpoolError.corruptIsFull(limit: limit) }
  }

  /// What is refused and has to be copied is copied up to this size.
  private static let largestCopy: Int64 = 16 << 20

  /// Where `corrupt/` is on another file system than `incoming/`, a file is copied, unless it is large. What isn't one, or
  /// can't be read, stays in its directory.
  private func refuseAcross(
    _ name: FileName, in place: SpoolPlace, _ status: FileStatus, to corrupt: DirectoryHandle, _ free: FileName
  ) throws {
    guard status.kind == .regular, status.allocated <= SpoolIntake.largestCopy, let file = try readable(name, in: place)
    else { return try setAside(name, in: place) }
    do {
      try file.copy(to: try corrupt.create(free, mode: 0o640), path: corrupt.place(free))
    } catch {
      try corrupt.remove(free)
      throw error
    }
    try corrupt.synchronise()
    if let there = try place.directory.status(of: name), there.hasSameContents(as: file.status) {
      try place.directory.remove(name)
    }
  }

  /// Leaves an entry in its directory as `.refused-NAME`, where nothing looks at it again.
  private func setAside(_ name: FileName, in place: SpoolPlace) throws {
    let aside = ".refused-" + name.sanitised
    while true {
      let number = try FreeName.number { number in
        try place.directory.status(of: FileName(FreeName.numbered(aside, number))) != nil
      }
      do {
        return try place.directory.rename(name, to: place.directory, FileName(FreeName.numbered(aside, number)))
      } catch let error as SpoolError where error.code == EEXIST {
        // Somebody was faster.
        continue
      }
    }
  }

  private func readable(_ name: FileName, in place: SpoolPlace) throws -> OpenFile? {
    do {
      let file = try place.directory.open(name)
      return file.status.kind == .regular ? file : nil
    } catch let error as SpoolError where [EACCES, EPERM, ELOOP, ENXIO].contains(error.code) {
      return nil
    }
  }
}
