package import FoundationEssentials

/// A backup in a store's folder of backups.
package struct Backup: Codable, Sendable, Hashable {
  /// The file's name, by which it is restored.
  package var name: String
  /// The content is that of this time.
  package var madeAt: Date
  /// Bytes of the file.
  package var size: Int64
  /// The job that made it.
  package var job: Int64

  package init(name: String, madeAt: Date, size: Int64, job: Int64) {
    self.name = name
    self.madeAt = madeAt
    self.size = size
    self.job = job
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name
    case madeAt = "made_at"
    case size, job
  }
}

/// The backups of a store: what `GET /v1/stores/{store}/backups` answers.
package struct BackupList: Codable, Sendable, Hashable {
  package var folder: String
  /// The newest first.
  package var backups: [Backup]

  package init(folder: String, backups: [Backup]) {
    self.folder = folder
    self.backups = backups
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case folder, backups }
}
