package import ControlAPI

/// What the control interface shows and does. The daemon implements it; a test implements it in memory.
///
/// Calls come from any task, several at once. An error that is a ``ControlError`` is the client's to mend and is shown
/// with its status; any other is answered with 500 and its description, and logged.
package protocol ControlBackend: Sendable {
  /// How the daemon is now.
  func status() async throws -> Status
  /// Jobs, newest first, without their transitions.
  func jobs(_ query: JobQuery) async throws -> JobList
  /// One job with its transitions.
  /// - Throws: ``ControlError/noSuchJob(_:)``.
  func job(_ id: Int64) async throws -> Job
  /// Why a job rejected records; of one that goes on, so far.
  /// - Throws: ``ControlError/noSuchJob(_:)``.
  func rejects(_ id: Int64) async throws -> RejectReport
  /// Makes a job, durably, before it returns. Whether the peer may read the source is for the backend to decide.
  func submit(_ submission: JobSubmission, by peer: Peer) async throws -> Job
  /// Cancels a job, or asks the one that runs to stop.
  func cancel(_ id: Int64, by peer: Peer) async throws -> Job
  /// Every change of every job from this call on, until the iterating task ends. It is read without delay, so the
  /// stream may buffer without a limit.
  func jobEvents() -> AsyncStream<Job>
  func objects(_ query: ObjectQuery) async throws -> ObjectPage
  /// How many objects match; limit, offset, sort and columns don't matter.
  func count(_ query: ObjectQuery) async throws -> Int
}
