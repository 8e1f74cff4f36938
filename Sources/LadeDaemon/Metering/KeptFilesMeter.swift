import ControlServer
import Spool
import Synchronization

/// Measures what `done/` and `corrupt/` hold. Every file is looked at, so a measurement is used again: for a minute, or for
/// a hundred times as long as it took.
final class KeptFilesMeter: Sendable {
  private let directories: SpoolDirectories
  private let last = Mutex<(uses: [String: SpoolUse], validUntil: ContinuousClock.Instant)?>(nil)

  init(_ directories: SpoolDirectories) { self.directories = directories }

  /// The measurement as metrics. Blocks.
  func families() throws -> [MetricFamily] {
    var bytes = MetricFamily(
      .gauge, "lade_spool_kept_bytes", "The space that the files in done/ and corrupt/ take on disk.")
    var files = MetricFamily(.gauge, "lade_spool_kept_files", "The files in done/ and corrupt/.")
    for (directory, use) in try uses().sorted(by: { $0.key < $1.key }) {
      bytes.add(use.bytes, ["directory": directory])
      files.add(use.files, ["directory": directory])
    }
    return [bytes, files]
  }

  private func uses() throws -> [String: SpoolUse] {
    let begin = ContinuousClock.now
    if let last = last.withLock({ $0 }), begin < last.validUntil { return last.uses }
    let uses = try directories.keptUse()
    let end = ContinuousClock.now
    let validUntil = end + max(.seconds(60), begin.duration(to: end) * 100)
    last.withLock { $0 = (uses: uses, validUntil: validUntil) }
    return uses
  }
}
