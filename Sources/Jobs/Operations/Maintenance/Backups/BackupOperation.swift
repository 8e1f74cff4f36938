// The steps of a backup: copy ─▶ check the copy ─▶ pack ─▶ unpack and compare ─▶ rename ─▶ remove older ones. Until the rename
// all files are in the job's workspace and the folder hasn't changed. A job that is killed after it and runs again finds its
// backup by the job's number in the name.

import Foundation
package import ManagedObjects

/// Makes a copy of a data store in its folder of backups: kind `backup`.
///
/// Imports continue; the copy is one state of the store. It is checked before it gets its name, and older backups are
/// removed only after that, so that there is always one to restore.
package final class BackupOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "backup"
  package override class var access: StoreAccess { .shared }

  /// The options of a submission; the configuration has the defaults.
  package struct Options: OperationOptions, Equatable {
    /// How many backups of the store are kept: the newest ones, including this.
    package var keep: Int?
    /// How it is packed: `none`, `gzip` or `zstd`.
    package var compress: BackupCompression?
    /// How thoroughly the copy is checked: `quick` or `full`.
    package var check: CheckDepth

    package enum CodingKeys: String, CodingKey, CaseIterable { case keep, compress, check }

    package init(keep: Int? = nil, compress: BackupCompression? = nil, check: CheckDepth = .full) {
      self.keep = keep
      self.compress = compress
      self.check = check
    }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      keep = try values.decodeIfPresent(Int.self, forKey: .keep)
      compress = try values.decodeWord(BackupCompression.self, forKey: .compress)
      check = try values.decodeWord(CheckDepth.self, forKey: .check) ?? .full
    }
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try checked(try submission.encodedOptions())
  }

  private static func checked(_ json: String) throws -> Options {
    let options = try Options.read(json)
    if let keep = options.keep, !(1...10_000).contains(keep) {
      throw Options.bad("keep is \(keep): it can be from 1 to 10000")
    }
    return options
  }

  package override func perform() throws -> JobOutcome {
    let options = try Self.checked(job.options)
    let store = try maintainedStore()
    let upkeep = try upkeep(of: store.name)
    let folder = BackupFolder(url: upkeep.backupFolder, store: store.name, form: store.maintenance.copyForm)
    return try watched { watch in
      let made = try madeBefore(folder) ?? make(store, folder, options, upkeep, watch)
      let removed = try folder.removeOld(keeping: options.keep ?? upkeep.keptBackups)
      let file = try FileManager.default.attributesOfItem(atPath: folder.file(made.name).path)
      let size = (file[.size] as? NSNumber)?.int64Value ?? 0
      var note = "\(folder.file(made.name).path), \(Quantity.bytes(Double(size)))"
      if !made.remarks.isEmpty { note += "; " + made.remarks.joined(separator: "; ") }
      if !removed.isEmpty { note += "; removed " + removed.map(\.description).joined(separator: ", ") }
      return .completed(JobProgress(bytesDone: size, bytesTotal: size), note: note)
    }
  }

  private struct Made {
    let name: BackupName
    var remarks: [String] = []
  }

  /// The backup that this job made before it was killed. A job of another queue with the same number is older.
  private func madeBefore(_ folder: BackupFolder) throws -> Made? {
    let earliest = job.submittedAt.addingTimeInterval(-1)
    guard let name = try folder.backups().last(where: { $0.job == job.id && $0.time >= earliest }) else { return nil }
    // It makes no new workspace, which would remove the one in which it was killed.
    try JobWorkspace.removeAbandoned(in: folder.url)
    // It was killed, or failed, before its name was durable.
    try JobWorkspace.synchronise(folder.url)
    return Made(name: name)
  }

  private func make(
    _ store: MaintainedStore, _ folder: BackupFolder, _ options: Options, _ upkeep: StoreUpkeep,
    _ watch: MaintenanceWatch
  ) throws -> Made {
    let workspace = try JobWorkspace(job: job.id, in: folder.url)
    let copy = workspace.file("copy")
    let compression = options.compress ?? upkeep.compression
    let passes = MultiPassProgress(compression == .none ? 2 : 4, watch)
    let name = BackupName(store: store.name, time: Date(), job: job.id, compression: compression, form: folder.form)
    try store.maintenance.copyContent(to: copy, passes.next("copying"))
    var made = Made(name: name)
    made.remarks = try check(copy, store, options.check, passes.next("verifying"))
    guard compression != .none else {
      try workspace.publish("copy", as: name.description)
      return made
    }
    let packed = workspace.file("packed")
    try BackupPacking.pack(copy, of: folder.form, into: packed, compression, passes.next("packing"))
    guard try BackupPacking.holds(packed, copy, of: folder.form, passes.next("verifying")) else {
      throw JobFailure(
        code: "damaged", message: "the packed file differs from the copy: is the disk damaged?",
        isRetryable: true)
    }
    try workspace.publish("packed", as: name.description)
    return made
  }

  /// - Returns: remarks about a copy that can be restored.
  private func check(
    _ copy: URL, _ store: MaintainedStore, _ depth: CheckDepth, _ watch: MaintenanceWatch
  ) throws -> [String] {
    let look = try BackupInspection(copy, store.maintenance, depth, watch)
    guard look.damage.isEmpty else {
      throw JobFailure(
        code: "damaged",
        message: "the copy is damaged, and so is the store, most likely: run check. "
          + look.damage.joined(separator: "; "), isRetryable: false)
    }
    return look.references == 0 ? [] : ["\(look.references) references in it lead nowhere: run check"]
  }
}
