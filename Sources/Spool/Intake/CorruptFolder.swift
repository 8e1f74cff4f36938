import Glibc

/// Moves refused entries to `corrupt/`, each with a `.reason` file beside it.
///
/// Not `Sendable`: it is confined to the intake's queue. All methods block.
final class CorruptFolder {
  /// The largest file that is copied to `corrupt/` from another file system.
  private static let largestCopy: Int64 = 16 << 20

  private let directories: SpoolDirectories
  private let report: IntakeReport
  private var limit: Int
  /// How many entries the folder had when they were last counted, and how many it has got since.
  private var count: Int?
  private var addedSinceCount = 0
  private var wasCountedInThisScan = false

  init(directories: SpoolDirectories, report: IntakeReport, limit: Int) {
    self.directories = directories
    self.report = report
    self.limit = limit
  }

  func setLimit(_ limit: Int) { self.limit = limit }

  func beginScan() { wasCountedInThisScan = false }

  /// Moves an entry, whatever it is, to `corrupt/`, with the reason beside it. Opens and follows nothing.
  /// - Parameter newName: its name there; nil: its own.
  func take(_ name: FileName, from place: SpoolPlace, _ refusal: SpoolRefusal, as newName: String? = nil) throws {
    guard let status = try place.directory.status(of: name) else { return }
    let entry = "incoming/" + place.relativeName(name)
    let corrupt = try directories.handle(.corrupt)
    try checkRoom(in: corrupt)
    let reason = SpoolReason(place: entry, status: status, code: refusal.code, reason: refusal.description)
    let kept: String
    do {
      kept = try put(name, from: place, status, reason, in: corrupt, as: newName ?? name.sanitised)
    } catch let error as SpoolError where error.code == ENOENT {
      // Its sender has removed it, or another daemon refuses it, too.
      guard try place.directory.status(of: name) == nil else { throw error }
      return
    }
    try corrupt.synchronise()
    try place.directory.synchronise()
    addedSinceCount += 1
    report.refused(refusal, entry: entry, keptAs: kept)
  }

  /// - Returns: the entry's name in `corrupt/`.
  private func put(
    _ name: FileName, from place: SpoolPlace, _ status: FileStatus, _ reason: SpoolReason, in corrupt: DirectoryHandle,
    as newName: String
  ) throws -> String {
    try corrupt.put(like: newName, reason: reason.text) { free in
      do {
        try place.directory.rename(name, to: corrupt, free)
      } catch let error as SpoolError where error.code == EXDEV {
        try takeAcross(name, from: place, status, to: corrupt, free)
      } catch let error as SpoolError where error.code == EACCES || error.code == EPERM {
        // Only a user who may write to a directory can move it elsewhere.
        try setAside(name, in: place)
      }
    }
  }

  /// Each `.reason` file belongs to the daemon, so the submitter's quota doesn't bound them.
  private func checkRoom(in corrupt: DirectoryHandle) throws {
    if let count, count + addedSinceCount < limit { return }
    if count != nil, wasCountedInThisScan { throw SpoolError.corruptIsFull(limit: limit) }
    var found = 0
    try corrupt.forEach { name, _ in
      if !name.bytes.reversed().starts(with: ".reason".utf8.reversed()) { found += 1 }
    }
    count = found
    addedSinceCount = 0
    wasCountedInThisScan = true
    if found >= limit { throw SpoolError.corruptIsFull(limit: limit) }
  }

  /// Where `corrupt/` is on another file system than `incoming/`, a small file is copied. A large one, one that can't be
  /// read, and anything but a file stay in their directory under another name.
  private func takeAcross(
    _ name: FileName, from place: SpoolPlace, _ status: FileStatus, to corrupt: DirectoryHandle, _ free: FileName
  ) throws {
    guard status.kind == .regular, status.allocated <= Self.largestCopy, let file = try readable(name, in: place) else {
      return try setAside(name, in: place)
    }
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

  /// Leaves an entry in its directory as `.refused-NAME`, which the intake ignores.
  private func setAside(_ name: FileName, in place: SpoolPlace) throws {
    var aside = ".refused-" + name.sanitised
    // The folder of a set mustn't look like one that is still to be taken.
    if SetName.parts(of: FileName(aside)) != nil { aside += ".refused" }
    try FreeName.claim(aside) { free in
      try place.directory.status(of: free) != nil
    } claim: { free in
      try place.directory.rename(name, to: place.directory, free)
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
