import BenchSupport
import Foundation

/// beanstalkd with its log synced at each write.
struct Beanstalkd: QueueSide {
  let name = "beanstalkd -f0"
  private let program: URL?

  /// - Parameter peers: where `install-peers` puts what it installs.
  init(peers: URL) {
    let unpacked = peers.appending(path: "beanstalkd")
    program =
      FileManager.default.isExecutableFile(atPath: unpacked.path) ? unpacked : programInPath("beanstalkd")
  }

  var missing: String? { program == nil ? "beanstalkd isn't installed: make bench-peers" : nil }

  func run(jobs: Int, workers: Int, in folder: URL) throws -> Timings {
    let log = folder.appending(path: "log")
    try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
    let socket = folder.appending(path: "beanstalkd.sock").path
    let server = Process()
    server.executableURL = program
    server.arguments = ["-l", "unix:" + socket, "-b", log.path, "-f0"]
    try server.run()
    defer {
      server.terminate()
      server.waitUntilExit()
    }
    while server.isRunning, !FileManager.default.fileExists(atPath: socket) { usleep(5000) }
    return try load(["beanstalk", socket, "\(Self.clients)", "\(jobs)", "\(workers)"])
  }
}

/// SqliteHuey, which syncs at each commit.
struct Huey: QueueSide {
  let name = "SqliteHuey, fsync"
  private let python: URL
  private let script: URL

  init(peers: URL, benchmarks: URL) {
    python = peers.appending(path: "bin/python3")
    script = benchmarks.appending(path: "queue-huey.py")
  }

  var missing: String? {
    let package = python.deletingLastPathComponent().appending(path: "huey_consumer")
    let isThere =
      FileManager.default.isExecutableFile(atPath: package.path)
      || FileManager.default.isExecutableFile(atPath: package.path + ".py")
    return isThere ? nil : "huey isn't installed: make bench-peers"
  }

  func run(jobs: Int, workers: Int, in folder: URL) throws -> Timings {
    let file = folder.appending(path: "huey.sqlite").path
    return try Timings(
      printed: MeasuredProgram(python.path, [script.path, file, "\(jobs)", "\(workers)"]).run().output)
  }
}

/// Raw SQLite, two commits a job, no queue around it. It has one writer, whatever the number of workers.
struct QueueFloor: QueueSide {
  let name = "floor"
  let missing: String? = nil

  func run(jobs: Int, workers: Int, in folder: URL) throws -> Timings {
    let file = folder.appending(path: "floor.sqlite").path
    return try Timings(printed: MeasuredProgram(programBeside("queue-floor").path, [file, "\(jobs)"]).run().output)
  }
}
