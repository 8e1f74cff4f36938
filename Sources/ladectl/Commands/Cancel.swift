import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl cancel`: stops jobs.
  struct Cancel: ControlCommand {
    static let configuration = CommandConfiguration(
      abstract: "Cancel jobs.",
      discussion: """
        A job that runs stops after the batch it is at, and what it has imported stays. Where one can't be cancelled, \
        the others still are, and the status is 1.
        """)

    @Argument(help: "The jobs' numbers.")
    var jobs: [Int64]

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      var cancelled: [Job] = []
      var failure: ControlClientError?
      for id in jobs {
        do {
          cancelled.append(try await session.client.cancel(id))
        } catch let error as ControlClientError where error.exitStatus == .failed {
          if let failure { StandardError.write(Failure.text(of: failure.problem)) }
          failure = error
        }
      }
      try session.report(JobList(jobs: cancelled)) {
        cancelled.map { job in
          job.state == .cancelled ? "job \(job.id) cancelled\n" : "job \(job.id) is asked to stop\n"
        }.joined()
      }
      if let failure { throw failure }
    }
  }
}
