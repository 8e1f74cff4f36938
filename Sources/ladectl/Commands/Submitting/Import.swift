import ArgumentParser
import ControlAPI
import Glibc

extension Ladectl {
  /// `ladectl import`: imports files, with command-line options for the common settings.
  struct Import: ControlCommand {
    /// The unit of commit.
    enum Unit: String, ExpressibleByArgument, CaseIterable { case batch, file }

    static let configuration = verb(
      "import", "Import files.",
      """
      Submits a job per file. A recipe of the daemon's configuration, or an entity, says what to do with it. The daemon reads \
      the file, so it must be yours, or where the daemon may read. --option takes every key of a recipe; the most common \
      ones have options of their own.

        ladectl import people.csv --entity Person --delimiter ';' --wait
        ladectl import *.csv --recipe orders
        ladectl import feed.zip --entity '*' --dry-run --wait
        ladectl import --set stops-28.csv trips-28.csv --recipe timetable
        zcat orders.csv.gz | ladectl import - --recipe orders
        ladectl import --recipe billing --wait      # a recipe that reads a database
      """, json: .document("a JobList"))

    @Argument(
      help: ArgumentHelp(
        "The files; - for standard input, whose format is found by its content or by --format. None for a recipe that reads a database.",
        valueName: "file"),
      completion: .file())
    var files: [String] = []

    @OptionGroup var target: ImportTarget

    @Option(help: "csv, tsv, fixed_width, json, ndjson, xml, plist, sqlite, core-data, xlsx, ods or parquet.")
    var format: String?

    @Option(help: ArgumentHelp("The field delimiter of CSV: one character, or tab.", valueName: "character"))
    var delimiter: String?

    @Option(help: ArgumentHelp("The text encoding.", valueName: "name"))
    var encoding: String?

    @Flag(help: "The first line is a record, not a header; use --columns.")
    var noHeader = false

    @Option(help: ArgumentHelp("The column names, separated by commas, instead of the header.", valueName: "a,b"))
    var columns: String?

    @Option(help: ArgumentHelp("Number of lines to skip at the beginning.", valueName: "n"))
    var skipLines: Int?

    @Option(help: ArgumentHelp("A text that means null, such as NA; repeatable.", valueName: "text"))
    var nulls: [String] = []

    @Option(help: "The transaction: each batch, or the whole file.")
    var atomic: Unit?

    @Flag(help: "Report the result without committing.")
    var dryRun = false

    @Flag(help: "The files are a set: one job imports all of them, or none.")
    var set = false

    @OptionGroup var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard (target.recipe == nil) != (target.entity == nil) else {
        throw ValidationError("Say what to do with the file: either --recipe, or --entity.")
      }
      guard !files.isEmpty || (target.recipe != nil && !set) else {
        throw ValidationError("Name the file, or by --recipe a recipe that reads a database.")
      }
      guard target.recipe == nil || target.store == nil else {
        throw ValidationError("The recipe says which store; --store goes with --entity.")
      }
      guard submission.uniqueKey == nil || files.count <= 1 || set else {
        throw ValidationError("With one --unique-key several files would be one job; give one file.")
      }
      guard files.count(where: { $0 == "-" }) <= 1 else {
        throw ValidationError("Standard input can be read once: give - only once.")
      }
      guard !set || !files.contains("-") else {
        throw ValidationError("The files of a set are told apart by their names, and standard input has none.")
      }
      _ = try options
    }

    func run(_ session: Session) async throws {
      let options = try options
      if set {
        let work = JobSubmission(
          store: target.store, entity: target.entity, recipe: target.recipe, mode: target.mode, options: options)
        var submission = submission.applied(to: work)
        submission.files = files.map { AbsolutePath.of($0) }
        return try await Submitter(session: session).run([submission], isList: true, wait: self.submission.wait)
      }
      if files.isEmpty {
        let work = JobSubmission(recipe: target.recipe, mode: target.mode, options: options)
        return try await Submitter(session: session).run(
          [submission.applied(to: work)], isList: true, wait: submission.wait)
      }
      let input = files.contains("-") ? try await standardInput(session) : nil
      // The daemon has taken its own copy by the time it answers.
      defer { input?.remove() }
      try await Submitter(session: session).run(
        files.map { file in
          submission.applied(
            to: JobSubmission(
              source: file == "-" ? input?.path : AbsolutePath.of(file), store: target.store, entity: target.entity,
              recipe: target.recipe,
              mode: target.mode, options: options))
        }, isList: true, wait: submission.wait)
    }

    /// Standard input as a file in the spool, where the daemon can read it.
    private func standardInput(_ session: Session) async throws -> SpoolCopy {
      let spool = try await session.client.status().spool
      guard let copy = SpoolCopy(ofStandardInputInSpool: spool) else {
        throw LocalFailure.cantWrite(path: spool + "/tmp", reason: String(cString: strerror(errno)))
      }
      return copy
    }

    /// The `--option` values together with the dedicated options.
    private var options: [String: OptionValue] {
      get throws {
        var options = try NamedOption.values(target.option)
        func set(_ name: String, _ value: OptionValue?) throws {
          guard let value else { return }
          guard options.updateValue(value, forKey: name) == nil else {
            throw ValidationError("'\(name)' is given twice: by --option, and by an option of its own.")
          }
        }
        try set("format", format.map { .string($0) })
        try set("delimiter", delimiter.map { .string($0) })
        try set("encoding", encoding.map { .string($0) })
        try set("header", noHeader ? .bool(false) : nil)
        try set("columns", columns.map { .list($0.split(separator: ",").map { .string(String($0)) }) })
        try set("skip_lines", skipLines.map { .int($0) })
        try set("nulls", nulls.isEmpty ? nil : .list(nulls.map { .string($0) }))
        try set("atomic", atomic.map { .string($0.rawValue) })
        try set("dry_run", dryRun ? .bool(true) : nil)
        return options
      }
    }
  }
}
