// The way of a restore: unpack ─▶ check ─▶ migrate to the store's present model ─▶ write over the store, in one transaction.
// Until the last step only files of the job's workspace have changed. The content that is put there notes which job did it,
// in the same transaction: a job that is killed after it, and run again, doesn't put it there a second time, over what
// others have written since.

import Foundation
import Glibc
import Importing
package import ManagedObjects

/// Puts a backup in the place of a data store's content: kind `restore`. What was written since the backup is lost.
///
/// It takes the store alone. Whoever reads sees the old content or the new, and contexts that follow the store read again.
/// A backup of an older version of the model is migrated, with what the configuration allows to be lost; one of another
/// store's model is refused, and so is a damaged one.
package final class RestoreOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "restore"
  package override class var access: StoreAccess { .exclusive }
  package override class var replacesContent: Bool { true }

  /// What a submission says.
  package struct Options: OperationOptions, Equatable {
    /// The name of a file in the store's folder of backups, packed or not; or `latest`. Required.
    package var backup: String
    /// How closely the backup is looked at before: `quick` or `full`.
    package var check: CheckDepth

    package enum CodingKeys: String, CodingKey, CaseIterable { case backup, check }

    package init(backup: String, check: CheckDepth = .full) {
      self.backup = backup
      self.check = check
    }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      guard let backup = try values.decodeIfPresent(String.self, forKey: .backup) else {
        throw DecodingError.keyNotFound(
          CodingKeys.backup,
          .init(
            codingPath: values.codingPath,
            debugDescription: "backup is missing: the name of a file in the store's folder of backups, or latest"))
      }
      self.backup = backup
      check = try values.decodeWord(CheckDepth.self, forKey: .check) ?? .full
    }
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try Options.read(submission.options)
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let store = try maintainedStore()
    let upkeep = try upkeep(of: store.name)
    let mark = "\(environment.queueIdentifier)/\(job.id)"
    if try store.maintenance.contentMark() == mark {
      try JobWorkspace.removeAbandoned(in: upkeep.backupFolder)
      return .completed(job.progress, note: "the backup was restored before the daemon ended")
    }
    let folder = BackupFolder(url: upkeep.backupFolder, store: store.name)
    let backup = try folder.file(named: options.backup)
    return try watched { watch in
      let workspace = try JobWorkspace(job: job.id, in: folder.url)
      let copy = workspace.file("copy.sqlite")
      let passes = Passes(3, watch)
      try FilePassage.unpack(backup, into: copy, passes.next("unpacking"))
      let remarks = try check(copy, backup, store, options.check, passes.next("verifying"))
      try store.coordinator.prepareCopy(
        at: copy, for: store.store, migration: upkeep.migration, mark: mark, watch)
      try store.coordinator.replaceContent(of: store.store, with: copy, passes.next("restoring"))
      let size = UnpackedSize(copy).bytes
      return .completed(
        JobProgress(bytesDone: size, bytesTotal: size),
        note: ([backup.lastPathComponent + " was restored"] + remarks).joined(separator: "; "))
    }
  }

  private func check(
    _ copy: URL, _ backup: URL, _ store: MaintainedStore, _ depth: CheckDepth, _ watch: MaintenanceWatch
  ) throws -> [String] {
    let name = backup.lastPathComponent
    let look: CopyLook
    do {
      look = try CopyLook(copy, store.maintenance, depth, watch)
    } catch ManagedObjectError.incompatibleStore(_, let reason) {
      throw JobFailure(code: "not_a_backup", message: "\(name) is no backup of a store: \(reason)", isRetryable: false)
    }
    guard look.damage.isEmpty, let metadata = look.metadata else {
      throw JobFailure(
        code: "damaged", message: "\(name) is damaged: \(look.damage.joined(separator: "; "))", isRetryable: false)
    }
    let theirs = Set(metadata.modelVersionHashes.keys).subtracting(ImportModel.entities)
    let ours = Set(store.store.entityNames).subtracting(ImportModel.entities)
    guard theirs.isEmpty || !theirs.isDisjoint(with: ours) else {
      throw JobFailure(
        code: "other_model",
        message: "\(name) is of another store: it holds \(theirs.sorted().joined(separator: ", ")), and \(store.name) "
          + ours.sorted().joined(separator: ", "), isRetryable: false)
    }
    return look.references == 0 ? [] : ["\(look.references) references in it lead nowhere: run check"]
  }
}

/// How many bytes a file has.
private struct UnpackedSize {
  let bytes: Int64

  init(_ url: URL) {
    var status = stat()
    bytes = stat(url.path, &status) == 0 ? Int64(status.st_size) : 0
  }
}
