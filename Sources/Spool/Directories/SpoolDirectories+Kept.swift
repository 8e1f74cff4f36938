// What is kept in `done/` and `corrupt/`: files of jobs that have ended, and refused entries. Nothing else than the daemon
// puts files there, so they are removed by name.

/// The files in one of the spool's directories.
package struct SpoolUse: Sendable, Equatable {
  package var files: Int64 = 0
  /// The space they take on disk.
  package var bytes: Int64 = 0
}

/// Ends the walk through a directory.
private struct RemovalEnded: Error {}

extension SpoolDirectories {
  /// Removes the file and the ticket of a job that has ended, with their reasons, from `done/` and `corrupt/`. Missing files
  /// are no error. Blocks.
  /// - Parameter activeName: the name that its file had in `active/`, if it had one.
  package func removeKept(job: Int64, activeName: String?) throws {
    let names = [activeName, SpoolDirectories.ticketName(job: job)].compactMap { $0.map { FileName($0).sanitised } }
    for folder in [Folder.done, .corrupt] {
      let directory = try handle(folder)
      for name in names + names.map({ $0 + ".reason" }) {
        switch try directory.status(of: FileName(name))?.kind {
        case .regular: try directory.remove(FileName(name))
        case .directory where try directory.directory(FileName(name))?.isOwn() == true:
          try directory.removeFolder(FileName(name))
        default: break
        }
      }
    }
  }

  /// Removes the files that came to `done/` more than a time ago. Blocks, for as long as it takes to look at all of them.
  /// - Parameter goesOn: asked before each file; false ends the removal.
  /// - Returns: how many were removed.
  @discardableResult
  package func removeDone(olderThan age: Duration, while goesOn: () -> Bool = { true }) throws -> Int {
    // A rename sets the time of the last change on every Linux file system, and no program can set it.
    let limit = FileStatus.now() - Int64(clamping: age.components.seconds) * 1_000_000_000
    let done = try handle(.done)
    var removed = 0
    do {
      try done.forEach { name, _ in
        guard goesOn() else { throw RemovalEnded() }
        guard let status = try done.status(of: name), status.changed < limit else { return }
        switch status.kind {
        case .regular: try done.remove(name)
        // The folder of a set; others aren't the daemon's.
        case .directory where try isSet(name, in: done): try done.removeFolder(name)
        default: return
        }
        removed += 1
      }
    } catch is RemovalEnded {
      // The rest is removed another time.
    }
    return removed
  }

  private func isSet(_ name: FileName, in directory: DirectoryHandle) throws -> Bool {
    guard let text = name.text, SpoolDirectories.job(ofActiveName: text) != nil else { return false }
    return try directory.directory(name)?.isOwn() == true
  }

  /// What `done/` and `corrupt/` hold, by their names. Blocks, for as long as it takes to look at all files.
  package func keptUse() throws -> [String: SpoolUse] {
    var uses: [String: SpoolUse] = [:]
    for folder in [Folder.done, .corrupt] {
      let directory = try handle(folder)
      var use = SpoolUse()
      try directory.forEach { name, _ in
        guard let status = try directory.status(of: name) else { return }
        if status.kind == .directory {
          let more = try directory.use(ofFolder: name)
          use.files += more.files
          use.bytes += more.bytes
        }
        guard status.kind == .regular else { return }
        use.files += 1
        use.bytes += status.allocated
      }
      uses[folder.rawValue] = use
    }
    return uses
  }
}
