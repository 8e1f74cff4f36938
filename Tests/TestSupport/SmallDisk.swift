package import Foundation
import Glibc

/// A disk of a few megabytes, in memory: what is full there is really full. Only root can have one.
package final class SmallDisk: Sendable {
  package let url: URL

  /// Whether this process may mount one.
  package static let isPossible: Bool = {
    guard geteuid() == 0 else { return false }
    do {
      _ = try SmallDisk(bytes: 1 << 20)
      return true
    } catch {
      return false
    }
  }()

  package struct Failure: Error { package let arguments: [String] }

  package init(bytes: Int) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lade-disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    url = folder
    do {
      try Self.run("mount", "-t", "tmpfs", "-o", "size=\(bytes)", "lade-test", folder.path)
    } catch {
      try FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  deinit {
    do {
      try Self.run("umount", "-l", url.path)
      try FileManager.default.removeItem(at: url)
    } catch {
      print("couldn't unmount \(url.path): \(error)")
    }
  }

  /// Changes how much the disk holds.
  package func resize(to bytes: Int) throws { try Self.run("mount", "-o", "remount,size=\(bytes)", url.path) }

  /// Fills what is free but for so many bytes, by a file.
  package func fill(leaving bytes: Int) throws {
    var status = statvfs()
    guard statvfs(url.path, &status) == 0 else { throw Failure(arguments: ["statvfs", url.path]) }
    let free = Int(status.f_bavail) * Int(status.f_frsize)
    try Data(count: max(0, free - bytes)).write(to: filler)
  }

  /// Takes the file away that filled it.
  package func free() throws { try FileManager.default.removeItem(at: filler) }

  private var filler: URL { url.appendingPathComponent("filler") }

  private static func run(_ arguments: String...) throws {
    let run = try ProgramOutput.now(URL(fileURLWithPath: "/usr/bin/env"), arguments)
    guard run.status == 0 else { throw Failure(arguments: arguments) }
  }
}
