import ControlAPI
import Foundation
import Glibc

/// How full the file systems are that the daemon writes to. Those who ask don't wait for one that doesn't answer. Safe from any thread.
final class DiskMeter: Sendable {
  /// A part of the daemon, and a directory of it.
  struct Part: Sendable {
    let name: String
    let path: String
  }

  private static let patience = Duration.seconds(10)

  private let measurement: BackgroundMeasurement<[DiskUse]>

  init(parts: [Part]) {
    measurement = BackgroundMeasurement(of: "the disks", .init(pause: .seconds(2), patience: Self.patience)) {
      Self.measured(parts)
    }
  }

  convenience init(_ configuration: DaemonConfiguration) {
    let folder = { (path: String) in URL(fileURLWithPath: path).deletingLastPathComponent().path }
    self.init(
      parts: [
        Part(name: "spool", path: configuration.spool), Part(name: "state", path: configuration.state),
      ]
        + (configuration.queue == nil ? [Part(name: "queue", path: folder(configuration.queueStore))] : [])
        + configuration.stores.compactMap { store in
          store.place.path.map { Part(name: "store \(store.name)", path: folder($0)) }
        })
  }

  /// The file systems, in the order of the parts: as they are now, or some seconds ago, or before one of them stopped answering.
  /// - Throws: ``MeasurementOverdue`` if they haven't answered yet.
  func use(within time: Duration = .milliseconds(200)) async throws -> DiskList {
    let reading = await measurement.reading(within: time)
    if let latest = reading.latest {
      guard let error = reading.error else { return DiskList(disks: latest.value) }
      let age = max(0, Date().timeIntervalSince(latest.time))
      return DiskList(disks: latest.value.map { $0.aged(age, because: "\(error)") })
    }
    throw reading.error ?? MeasurementOverdue(subject: "the disks", time: Self.patience)
  }

  /// Blocks.
  private static func measured(_ parts: [Part]) -> [DiskUse] {
    var found: [(device: dev_t, parts: [String], path: String)] = []
    var lost: [DiskUse] = []
    for part in parts {
      var status = stat()
      guard stat(part.path, &status) == 0 else {
        lost.append(DiskUse(part: part.name, path: part.path, problem: "\(SystemFailure(code: errno))"))
        continue
      }
      if let place = found.firstIndex(where: { $0.device == status.st_dev }) {
        found[place].parts.append(part.name)
      } else {
        found.append((status.st_dev, [part.name], part.path))
      }
    }
    return lost
      + found.map { _, parts, path in
        var space = statvfs()
        guard statvfs(path, &space) == 0 else {
          let problem = "\(SystemFailure(code: errno))"
          return DiskUse(part: parts.joined(separator: ", "), path: path, problem: problem)
        }
        func bytes(_ blocks: UInt) -> Int64 {
          let (bytes, isTooMuch) = blocks.multipliedReportingOverflow(by: space.f_frsize)
          return isTooMuch ? .max : Int64(clamping: bytes)
        }
        return DiskUse(
          parts: parts, path: path, size: bytes(space.f_blocks), free: bytes(space.f_bavail),
          inodes: Int64(clamping: space.f_files), freeInodes: Int64(clamping: space.f_favail))
      }
  }
}
