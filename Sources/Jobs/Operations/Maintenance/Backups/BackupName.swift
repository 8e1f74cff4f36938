import Foundation

/// The name of a backup: `main-2026-11-22T034000Z-job12.sqlite.zst`. It says whose content it is, of when (UTC), and which
/// job made it, so that a job which is run again knows what it has made already.
struct BackupName: Comparable, CustomStringConvertible {
  let store: String
  /// In whole seconds.
  let time: Date
  let job: Int64
  let compression: BackupCompression

  init(store: String, time: Date, job: Int64, compression: BackupCompression) {
    self.store = store
    self.time = Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down))
    self.job = job
    self.compression = compression
  }

  /// Reads a name; nil when it isn't that of a backup of the store.
  init?(_ name: String, of store: String) {
    guard name.hasPrefix(store + "-") else { return nil }
    var rest = name.dropFirst(store.utf8.count + 1)
    guard let compression = BackupCompression.allCases.last(where: { rest.hasSuffix(".sqlite" + $0.ending) }) else {
      return nil
    }
    rest = rest.dropLast(".sqlite".count + compression.ending.count)
    let parts = rest.split(separator: "-job", omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Self.time(parts[0]), let job = Int64(parts[1]), job > 0,
      BackupName(store: store, time: time, job: job, compression: compression).description == name
    else { return nil }
    self.init(store: store, time: time, job: job, compression: compression)
  }

  var description: String {
    "\(store)-\(Self.form.format(time).replacing(":", with: ""))-job\(job).sqlite\(compression.ending)"
  }

  static func < (a: BackupName, b: BackupName) -> Bool { (a.time, a.job) < (b.time, b.job) }

  private static let form = Date.ISO8601FormatStyle()

  /// `2026-11-22T034000Z`
  private static func time(_ text: Substring) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count == 18 else { return nil }
    let parts = [bytes[0..<13], bytes[13..<15], bytes[15...]].map { String(decoding: $0, as: UTF8.self) }
    do {
      return try form.parse(parts.joined(separator: ":"))
    } catch {
      // Not a time: not our name.
      return nil
    }
  }
}
