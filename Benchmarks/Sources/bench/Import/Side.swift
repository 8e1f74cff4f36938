import BenchSupport
import Foundation

/// One of those that take turns: how it does the work into a database of its own, and how that is looked at afterwards.
struct Side {
  /// As the table calls it.
  var name: String
  /// A slow one runs no more often than this, however many runs are asked for.
  var mostRuns = Int.max
  /// Makes the database as it is before each run. Done once, copied for each run, and not measured.
  var prepare: ((_ database: URL) throws -> Void)?
  /// The work: one process, from its start to its end.
  var run: (_ database: URL) throws -> MeasuredRun
  /// What is in the database then; nil where nothing can tell.
  var contents: (_ database: URL) throws -> Contents?
}

/// What a side's runs came to.
struct Standing {
  var name: String
  var runs: [MeasuredRun]

  /// Medians. A side that was measured has at least one run.
  var seconds: Double { runs.map(\.seconds).median ?? .nan }
  var peakMiB: Double { runs.map(\.peakMiB).median ?? .nan }

  func rate(_ rows: Int) -> Double { Double(rows) / seconds }
}
