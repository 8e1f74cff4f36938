import ArgumentParser
import ControlAPI

extension Ladectl.StoreCommand {
  /// `ladectl store backups`.
  struct Backups: ControlCommand {
    static let configuration = Ladectl.verb(
      "backups", "Show the backups of a store, newest first.", json: .document("a BackupList"))

    @Argument(help: "The store; may be omitted if there is only one.", completion: .stores)
    var store: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let name = try await session.client.storeName(store, having: nil) ?? ""
      let list = try await session.client.backups(of: name)
      try session.report(list) {
        guard !list.backups.isEmpty else { return "No backups of \(name.printable) in \(list.folder.printable).\n" }
        let table = TextTable(
          columns: [
            .init("BACKUP", cut: .nothing), .init("MADE", cut: .nothing, rank: 1), .init("SIZE", .right),
            .init("JOB", .right, rank: 2),
          ],
          rows: list.backups.map { backup in
            [
              .init(backup.name), .init(Quantity.time(backup.madeAt)), .init(Quantity.bytes(Double(backup.size))),
              "\(backup.job)",
            ]
          })
        return table.rendered(width: session.terminal.width, style: session.terminal.style)
      }
    }
  }

  /// `ladectl store restore`.
  struct Restore: ControlCommand {
    static let configuration = Ladectl.verb(
      "restore", "Replace a store's content by a backup.",
      """
      Everything stored after the backup is lost, so it asks on a terminal. It needs exclusive access: imports wait; readers \
      see either the old or the new content.

        ladectl store restore latest --store main --wait
      """, json: .submission)

    @Argument(help: "The backup: a name that 'ladectl store backups' lists, or latest.", completion: .backups)
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
    @OptionGroup var submission: SubmissionOptions
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
