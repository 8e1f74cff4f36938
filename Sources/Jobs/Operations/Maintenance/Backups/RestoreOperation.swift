// The steps of a restore: unpack ─▶ check ─▶ migrate to the store's current model ─▶ replace the content, in one transaction.
// Until the last step only files in the job's workspace have changed. The same transaction notes which job restored the
// content, so that a job which is killed after it and runs again doesn't overwrite what others have written since.

import Foundation
import Glibc
import Importing
package import ManagedObjects

/// Replaces the content of a data store by a backup: kind `restore`. What was written since the backup is lost.
///
/// The job has the store to itself. Readers see the old content or the new, and contexts that follow the store read again.
/// A backup of an older version of the model is migrated, with the losses that the configuration allows. A damaged backup,
/// or one of another store's model, is refused.
package final class RestoreOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "restore"
  package override class var access: StoreAccess { .exclusive }
  package override class var replacesContent: Bool { true }

  /// The options of a submission.
  package struct Options: OperationOptions, Equatable {
    /// The name of a file in the store's folder of backups, packed or not; or `latest`. Required.
    package var backup: String
    /// How thoroughly the backup is checked first: `quick` or `full`.
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
    _ = try Options.read(submission)
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
    let folder = BackupFolder(url: upkeep.backupFolder, store: store.name, form: store.maintenance.copyForm)
    let backup = try folder.file(named: options.backup)
    return try watched { watch in
      let workspace = try JobWorkspace(job: job.id, in: folder.url)
      let copy = workspace.file("copy")
      let passes = MultiPassProgress(3, watch)
      try BackupPacking.unpack(backup, of: folder.form, into: copy, passes.next("unpacking"))
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
    let look: BackupInspection
    do {
      look = try BackupInspection(copy, store.maintenance, depth, watch)
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
