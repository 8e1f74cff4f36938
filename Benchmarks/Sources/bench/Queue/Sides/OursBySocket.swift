import BenchSupport
import Foundation

/// Submissions to the control socket.
struct OursBySocket: QueueSide {
  let name = "ours, by the socket"
  let missing: String? = nil
  let model: String

  func run(jobs: Int, workers: Int, in folder: URL) throws -> Timings {
    let daemon = try QueueDaemon(in: folder, model: model, workers: workers)
    try daemon.start()
    defer { daemon.stop() }
    try daemon.whenReady()
    return try load(["http", daemon.socket, "\(Self.clients)", "\(jobs)"])
  }
}

/// Tickets in the spool.
struct OursBySpool: QueueSide {
  let name = "ours, by the spool"
  let missing: String? = nil
  let model: String

  func run(jobs: Int, workers: Int, in folder: URL) throws -> Timings {
    let daemon = try QueueDaemon(in: folder, model: model, workers: workers)
    try daemon.start()
    defer { daemon.stop() }
    try daemon.whenReady()
    return try load(["spool", daemon.socket, daemon.spool, "\(Self.clients)", "\(jobs)"])
  }
}
