/// Makes and starts the jobs of the entries that a ``SpoolIntake`` hands over.
///
/// The intake calls the methods in the order of the steps that `SpoolIntake.swift` numbers, one at a time. `accept` and
/// `handOverCompleted` run on the intake's own queue unless they switch to another actor, so they must not block it.
package protocol SpoolDelegate: Sendable {
  /// Makes the jobs of entries durable (step 2).
  ///
  /// The intake calls this before it touches the entries. After a failure or a kill it offers the same entry, one with the
  /// same `identity`, again; the delegate must then return the job it returned before, until it has received
  /// `handOverCompleted` for that job.
  /// - Returns: for each entry, in their order, the job's id or an error. A ``SpoolRefusal`` moves the entry to `corrupt/`.
  ///   A ``SpoolEntryElsewhere`` leaves it to the daemon that takes it. After any other error the entry stays in `incoming/`, and
  ///   the intake offers it again later.
  nonisolated(nonsending) func accept(_ entries: [SpoolEntry]) async -> [Result<Int64, any Error>]

  /// The files of these jobs are in `active/`, so the jobs may run (step 5). A loss of power can still move the files back
  /// to `incoming/`. The intake does not call this for a file that it copied or for an entry without a file: their first
  /// call is `handOverCompleted`.
  func filesArrived(of jobs: [Int64])

  /// The hand-over of these jobs' entries is durable (step 7): nothing brings the entries back, and their identities may be
  /// forgotten. Can be called more than once for a job. If it throws, the intake calls it again later.
  nonisolated(nonsending) func handOverCompleted(of jobs: [Int64]) async throws

  /// The file of this job changed while the intake copied it. The job will not get a file and must end: the changed file is
  /// an entry of its own. If this throws, the intake logs the error and goes on.
  func sourceChanged(of job: Int64) async throws

  /// A scan has dealt with everything in `incoming/`: no entry failed and none waits. Called once in the intake's life; if
  /// it throws, the next such scan calls it again.
  func scanCompleted() async throws
}

/// A daemon on another host takes this entry of a shared folder, or has taken it.
package struct SpoolEntryElsewhere: Error, Equatable, CustomStringConvertible {
  /// Nil if it isn't known.
  package let host: String?

  package init(host: String?) { self.host = host }

  package var description: String { "the daemon on \(host.map { "host " + $0 } ?? "another host") takes it" }
}
