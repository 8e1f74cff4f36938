import BenchSupport
import Foundation
import Glibc

/// A `lade-queue` in a folder of its own.
final class QueueDaemon {
  let folder: URL
  var spool: String { folder.appending(path: "spool").path }
  var socket: String { folder.appending(path: "control.sock").path }
  var queueStore: String { folder.appending(path: "state/queue.sqlite").path }
  var processIdentifier: Int32 { process.processIdentifier }
  private let marks: MarkSocket?
  private var process = Process()

  /// Writes its configuration; nothing runs yet.
  init(in folder: URL, model: String, workers: Int, marks: MarkSocket? = nil) throws {
    self.folder = folder
    self.marks = marks
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration = """
      spool: \(folder.path)/spool
      state: \(folder.path)/state
      socket: \(folder.path)/control.sock
      log_level: error
      stores: {main: {path: \(folder.path)/main.sqlite, model: \(model)}}
      lanes: {import: {concurrency: \(workers)}}

      """
    try configuration.write(to: folder.appending(path: "lade.yaml"), atomically: true, encoding: .utf8)
  }

  /// Starts it; it isn't ready when this returns.
  /// - Returns: when that was.
  @discardableResult
  func start() throws -> Double {
    process = Process()
    process.executableURL = programBeside("lade-queue")
    process.arguments = [folder.appending(path: "lade.yaml").path]
    var environment = ProcessInfo.processInfo.environment
    environment["BENCH_MARKS"] = marks?.path
    process.environment = environment
    let start = MarkSocket.now
    try process.run()
    return start
  }

  /// Waits until its socket answers.
  func whenReady() throws {
    let end = MarkSocket.now + 60
    while !FileManager.default.fileExists(atPath: socket) {
      guard MarkSocket.now < end, process.isRunning else {
        throw QueueBenchmarkError.system("lade-queue doesn't answer: see above")
      }
      usleep(5000)
    }
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
    // What says that the next one is ready is that its socket is there.
    unlink(socket)
  }

  func kill() {
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    unlink(socket)
  }
}
