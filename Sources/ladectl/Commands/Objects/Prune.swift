import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl prune`: deletes objects.
  struct Prune: ControlCommand {
    static let configuration = verb(
      "prune", "Delete matching objects of an entity in batches, applying the model's delete rules.",
      """
      Runs as a job in the lane 'maintenance'. On a terminal it asks first and shows the number of objects. A job that is stopped \
      has deleted whole batches.

        ladectl prune Log --where 'at < "2026-01-01T00:00:00Z"' --wait
      """, json: .submission)

    @OptionGroup var objects: WhichObjects
    @OptionGroup var other: OtherOptions
    @OptionGroup var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws { _ = try other.merged(with: objects.options) }

    func run(_ session: Session) async throws {
      try await objects.submit(
        "prune", try other.merged(with: objects.options), submission, verb: "Delete", session)
    }
  }
}
