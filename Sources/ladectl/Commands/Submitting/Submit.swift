import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl submit`: submits a job of any kind.
  struct Submit: ControlCommand {
    static let configuration = verb(
      "submit", "Submit a job: an import of a file, or any other kind.",
      """
      An import needs a recipe of the daemon's configuration, or an entity; the daemon reads the file, so it must be yours, or \
      where the daemon may read. Other kinds take their options by --option. Most kinds have a verb of their own: import, \
      export, prune, update, and those of store.

        ladectl submit people.csv --recipe people --after 12
        ladectl submit --kind vacuum --store main --option incremental=true \\
          --not-before '2026-03-01 04:00'
      """, json: .either("a Job", "a JobList", when: "with --wait"))

    @Argument(help: "The file to import; most other kinds have none.", completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("The kind of job.", valueName: "kind"), completion: .jobKinds)
    var kind = "import"

    @OptionGroup var target: ImportTarget
    @OptionGroup var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      if kind == "import" {
        guard file != nil else { throw ValidationError("Which file? An import needs one; other work says its --kind.") }
        guard (target.recipe == nil) != (target.entity == nil) else {
          throw ValidationError("Say what to do with the file: either --recipe, or --entity.")
        }
      }
      guard target.recipe == nil || target.store == nil else {
        throw ValidationError("The recipe says which store; --store goes with --entity.")
      }
      _ = try NamedOption.values(target.option)
    }

    func run(_ session: Session) async throws {
      let submission = submission.applied(
        to: JobSubmission(
          kind: kind, source: file.map { AbsolutePath.of($0) }, store: target.store, entity: target.entity,
          recipe: target.recipe, mode: target.mode, options: try NamedOption.values(target.option)))
      try await Submitter(session: session).run([submission], wait: self.submission.wait)
    }
  }
}
