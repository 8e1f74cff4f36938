import ControlAPI
import Dispatch
import Foundation
import Glibc

/// How full the file systems are that the daemon writes to.
struct DiskMeter: Sendable {
  /// A network's file system may not answer for long, so this has a queue of its own.
  private static let queue = DispatchQueue(label: "laded.disks")

  /// What is where: the parts' names, and their directories.
  let parts: [(name: String, path: String)]

  init(parts: [(name: String, path: String)]) { self.parts = parts }

  init(_ configuration: DaemonConfiguration) {
    let folder = { (path: String) in URL(fileURLWithPath: path).deletingLastPathComponent().path }
    parts =
      [("spool", configuration.spool), ("state", configuration.state), ("queue", folder(configuration.queueStore))]
      + configuration.stores.map { ("store \($0.name)", folder($0.path)) }
  }

  /// The file systems, in the order of the parts.
  /// - Throws: `SystemFailure` if one can't be asked.
  func use() async throws -> DiskList { try await Self.queue.result { DiskList(disks: try measured()) } }

  /// Blocks.
  private func measured() throws -> [DiskUse] {
    var found: [(device: dev_t, parts: [String], path: String)] = []
    for (name, path) in parts {
      var status = stat()
      guard stat(path, &status) == 0 else { throw SystemFailure(code: errno) }
      if let place = found.firstIndex(where: { $0.device == status.st_dev }) {
        found[place].parts.append(name)
      } else {
        found.append((status.st_dev, [name], path))
      }
    }
    return try found.map { _, parts, path in
      var space = statvfs()
      guard statvfs(path, &space) == 0 else { throw SystemFailure(code: errno) }
      func bytes(_ blocks: UInt) -> Int64 { Int64(clamping: blocks.multipliedReportingOverflow(by: space.f_frsize).0) }
      return DiskUse(
        parts: parts, path: path, size: bytes(space.f_blocks), free: bytes(space.f_bavail),
        inodes: Int64(clamping: space.f_files), freeInodes: Int64(clamping: space.f_favail))
    }
  }
}
