import ArgumentParser
import ControlAPI

extension Ladectl.StoreCommand {
  /// `ladectl store restore`.
  struct Restore: ControlCommand {
    static let configuration = Ladectl.verb(
      "restore", "Replace a store's content by a backup.",
      """
      Everything stored after the backup is lost, so it asks on a terminal. It needs exclusive access: imports wait; readers \
      see either the old or the new content.

        ladectl store restore latest --store main --wait
      """, json: .submission)

    @Argument(help: "The backup: a file name in the store's backup folder, or latest.")
    var backup: String

    @Option(
      help: ArgumentHelp("The store; may be omitted if there is only one.", valueName: "name"),
      completion: .stores)
    var store: String?

    @Option(help: "The depth of the check beforehand.")
    var check: Depth?

    @Flag(help: "Don't ask for confirmation.")
    var yes = false

    @OptionGroup var other: OtherOptions
    @OptionGroup(title: "The job") var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    private var options: [String: OptionValue] {
      get throws { try other.merged(with: ["backup": .string(backup), "check": check.map { .string($0.rawValue) }]) }
    }

    func validate() throws {
      guard !backup.contains("/") else {
        throw ValidationError("Give the backup's name in the store's folder of backups, not its path; or latest.")
      }
      _ = try options
    }

    func run(_ session: Session) async throws {
      let store = try await session.client.storeName(store, having: nil)
      let question =
        "Put the backup \(backup.printable) in the place of store \(store ?? "")? What came after it is lost."
      guard try session.mayGoOn(question, yes: yes) else { return }
      let work = JobSubmission(kind: "restore", store: store, options: try options)
      try await Submitter(session: session).run([submission.applied(to: work)], wait: submission.wait)
    }
  }
}
