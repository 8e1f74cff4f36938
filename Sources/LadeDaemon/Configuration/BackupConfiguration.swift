package import Jobs

/// Where a store's backups are kept, and how.
package struct BackupConfiguration: Sendable, Equatable {
  /// The folder; nil for one of the store's name under the daemon's state.
  package var folder: String?
  /// How many are kept: the newest.
  package var keep = 7
  /// How they are packed.
  package var compress = BackupCompression.zstd

  package init() {}
}

extension BackupConfiguration {
  enum Key: String, CaseIterable {
    case folder, keep, compress
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue, in folder: ConfigurationFolder) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    self.folder = section[.folder]?.path(in: folder)
    if let keep = section[.keep]?.integer(1...10_000) { self.keep = keep }
    if let compress = section[.compress]?.word(of: BackupCompression.self) { self.compress = compress }
  }
}
