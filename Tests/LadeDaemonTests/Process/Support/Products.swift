import Foundation
import TestSupport

/// Where the programs are that a test runs, and with what environment.
enum Products {
  static let folder = BuiltPrograms.folder

  static let laded = folder.appendingPathComponent("laded")
  static let ladectl = folder.appendingPathComponent("ladectl")

  /// A program of the system, by `$PATH`; nil when it isn't there.
  static func system(_ name: String) -> URL? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return folders.map { URL(fileURLWithPath: $0 + "/" + name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  /// This process's environment, without what would lead a program to another daemon or service manager.
  static func environment(_ more: [String: String]) -> [String: String] {
    var environment = ProcessInfo.processInfo.environment
    for name in environment.keys where name.hasPrefix("LADE_") { environment[name] = nil }
    for name in ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "WATCHDOG_USEC", "JOURNAL_STREAM"] {
      environment[name] = nil
    }
    environment["TZ"] = "UTC"
    return environment.merging(more) { _, new in new }
  }

  /// What becomes the daemon with a socket that is open already, by systemd; for ``DaemonFolder/launch(_:by:)``. It passes
  /// nothing of the environment on that isn't named: a sanitizer's settings are.
  static func activating(on address: String, as name: String) throws -> [String] {
    guard let program = system("systemd-socket-activate") else {
      throw ProgramFailure(program: "systemd-socket-activate", arguments: [], what: "it isn't installed", error: "")
    }
    let passed = ["ASAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD"].filter {
      ProcessInfo.processInfo.environment[$0] != nil
    }
    return [program.path, "--listen=\(address)", "--fdname=\(name)"]
      + (["NOTIFY_SOCKET"] + passed).map { "--setenv=" + $0 }
  }

  /// The folder of the package, and beside it a folder that may hold data of others.
  static let package: URL = {
    var url = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    for _ in 0..<5 { url.deleteLastPathComponent() }
    return url
  }()
}
