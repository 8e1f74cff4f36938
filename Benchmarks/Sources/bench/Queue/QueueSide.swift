import BenchSupport
import Foundation

/// What runs jobs that do nothing, each of them safe on the disk when it is handed in and when it has ended.
protocol QueueSide {
  var name: String { get }
  /// Why it is left out; nil if it is there.
  var missing: String? { get }
  /// Submits the jobs and waits until they have ended, in a folder of its own.
  func run(jobs: Int, workers: Int, in folder: URL) throws -> Timings
}

extension QueueSide {
  /// How many clients hand jobs in at a time.
  static var clients: Int { 64 }

  /// What `queue-load` measures.
  func load(_ arguments: [String]) throws -> Timings {
    try Timings(printed: MeasuredProgram(programBeside("queue-load").path, arguments).run().output)
  }
}
