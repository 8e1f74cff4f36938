import BenchSupport
import Foundation

/// Submissions to the control socket.
struct OursBySocket: QueueSide {
  let missing: String? = nil
  let model: String
  /// How many jobs a request hands in.
  var each = 1

  var name: String { each == 1 ? "ours, by the socket" : "ours, by the socket, \(each) a request" }

  func run(jobs: Int, workers: Int, in folder: URL) throws -> Timings {
    let daemon = try QueueDaemon(in: folder, model: model, workers: workers)
    try daemon.start()
    defer { daemon.stop() }
    try daemon.whenReady()
    let arguments = [daemon.socket, "\(Self.clients)", "\(jobs)"]
    return try load(each == 1 ? ["http"] + arguments : ["many"] + arguments + ["\(each)"])
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
