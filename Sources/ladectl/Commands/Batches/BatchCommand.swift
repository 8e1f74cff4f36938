import ArgumentParser
import ControlAPI
import Foundation

extension Ladectl {
  /// `ladectl batch`: commands for batches of jobs.
  struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "batch", abstract: "Group jobs under one progress, with a job that runs after them all.",
      discussion: "To change the jobs of a batch, name it as a filter: 'ladectl cancel --all --batch 3'.",
      subcommands: [Submit.self, List.self, Show.self, Wait.self])

    /// `ladectl batch submit`.
    struct Submit: ControlCommand {
      static let configuration = verb(
        "submit", "Submit a group of jobs, all or none.",
        """
        Imports each file, or submits the jobs of a description: a BatchSubmission as JSON, whose jobs can be of any kind, \
        depend on each other by name, and be followed by a final job.

          ladectl batch submit *.csv --recipe orders --name 'May' --wait
          ladectl batch submit --description batch.json
        """, json: .either("a Batch", "a JobList", when: "with --wait"))

      @Argument(
        help: ArgumentHelp("The files, up to \(BatchSubmission.maximumJobs).", valueName: "file"), completion: .file())
      var files: [String] = []

      @Option(
        help: ArgumentHelp("A BatchSubmission as JSON, instead of files; - for standard input.", valueName: "path"),
        completion: .file(extensions: ["json"]))
      var description: String?

      @Option(help: ArgumentHelp("A description of the batch.", valueName: "text"))
      var name: String?

      @Flag(help: "Wait until all jobs of the batch have ended.")
      var wait = false

      @OptionGroup var target: ImportTarget
      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func validate() throws {
        guard files.isEmpty == (description != nil) else {
          throw ValidationError("Give either files, or a --description.")
        }
        let hasTarget = target.recipe != nil || target.entity != nil
        guard hasTarget != (description != nil), target.recipe == nil || target.entity == nil else {
          throw ValidationError(
            description == nil
              ? "Say what to do with the files: either --recipe, or --entity."
              : "The description says what to do; --recipe and --entity go with files.")
        }
        guard files.count <= BatchSubmission.maximumJobs else {
          throw ValidationError("A batch is made of up to \(BatchSubmission.maximumJobs) jobs.")
        }
        _ = try NamedOption.values(target.option)
      }

      func run(_ session: Session) async throws {
        let batch = try await session.client.submit(try submission)
        guard wait else { return try session.report(batch) { batch.sentence } }
        try await Waiter(session, for: .jobs(batch.jobs + [batch.callback].compactMap(\.self))).run(timeout: nil)
      }

      private var submission: BatchSubmission {
        get throws {
          guard let description else {
            let options = try NamedOption.values(target.option)
            return BatchSubmission(
              name: name,
              jobs: files.map { file in
                .init(
                  JobSubmission(
                    source: AbsolutePath.of(file), store: target.store, entity: target.entity, recipe: target.recipe,
                    mode: target.mode, options: options))
              })
          }
          do {
            let data =
              try description == "-"
              ? FileHandle.standardInput.readToEnd() ?? Data() : Data(contentsOf: URL(fileURLWithPath: description))
            var submission = try WireFormat.decode(BatchSubmission.self, from: data)
            submission.name = name ?? submission.name
            for index in submission.jobs.indices {
              let source = submission.jobs[index].job.source
              submission.jobs[index].job.source = source.map { AbsolutePath.of($0) }
            }
            let source = submission.callback?.source
            submission.callback?.source = source.map { AbsolutePath.of($0) }
            return submission
          } catch {
            throw LocalFailure.cantReadDescription(path: description, reason: words(of: error))
          }
        }
      }
    }

    /// `ladectl batch list`.
    struct List: ControlCommand {
      static let configuration = verb(
        "list", "List batches, newest first.", "A batch is removed with the last of its jobs.",
        json: .document("a BatchList"))

      @Option(
        help: ArgumentHelp("Maximum number of batches, up to \(BatchQuery.maximumLimit) (default: 50).", valueName: "n")
      )
      var limit: Int?

      @Option(help: ArgumentHelp("Only batches older than this one, to continue a list.", valueName: "batch"))
      var olderThan: Int64?

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func validate() throws {
        guard limit.map({ (1...BatchQuery.maximumLimit).contains($0) }) ?? true else {
          throw ValidationError("--limit is a number from 1 to \(BatchQuery.maximumLimit).")
        }
      }

      func run(_ session: Session) async throws {
        let list = try await session.client.batches(BatchQuery(limit: limit ?? 50, before: olderThan))
        try session.report(list) {
          list.batches.isEmpty
            ? "No batches.\n" : list.table.rendered(width: session.terminal.width, style: session.terminal.style)
        }
        if let next = list.next, !session.json { session.remark("there are more: --older-than \(next)") }
      }
    }

    /// `ladectl batch show`.
    struct Show: ControlCommand {
      static let configuration = verb(
        "show", "Show the progress of a batch, and its jobs.", json: .document("a Batch"))

      @Argument(help: ArgumentHelp("The batch's number.", valueName: "batch"))
      var batch: Int64

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let batch = try await session.client.batch(batch)
        let list = try await session.client.jobs(JobQuery(JobSelection(batch: batch.id), order: .oldest))
        try session.report(batch) {
          batch.sheet + "\n" + list.rendered(width: session.terminal.width, style: session.terminal.style)
        }
      }
    }

    /// `ladectl batch wait`.
    struct Wait: ControlCommand {
      static let configuration = verb(
        "wait", "Wait until all jobs of a batch have ended, as 'ladectl wait' does.",
        json: .document("a JobList, at the end"))

      @Argument(help: ArgumentHelp("The batch's number.", valueName: "batch"))
      var batch: Int64

      @OptionGroup var timeout: TimeoutOption

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let batch = try await session.client.batch(batch)
        let jobs = batch.jobs + [batch.callback].compactMap(\.self)
        try await Waiter(session, for: .jobs(jobs)).run(timeout: timeout.seconds)
      }
    }
  }
}

extension BatchList {
  fileprivate var table: TextTable {
    TextTable(
      columns: [
        .init("BATCH", .right), .init("NAME"), .init("BY", rank: 1), .init("SUBMITTED", cut: .nothing, rank: 2),
        .init("JOBS", .right), .init("PENDING", .right), .init("FAILED", .right),
      ],
      rows: batches.map { batch in
        [
          "\(batch.id)", .init(batch.name ?? ""), .init(batch.submittedBy.namingUsers),
          .init(Quantity.time(batch.submittedAt)), .init(Quantity.count(batch.total)),
          .init(Quantity.count(batch.pending)), .init(Quantity.count(batch.failed), batch.failed > 0 ? .red : nil),
        ]
      })
  }
}

extension Batch {
  private var title: String { "batch \(id)" + (name.map { " (\($0.printable))" } ?? "") }

  /// `batch 3 (the orders of May): jobs 12, 13`.
  fileprivate var sentence: String {
    let numbers = jobs.map { String($0) }.joined(separator: ", ")
    return title + ": jobs \(numbers)" + (callback.map { ", then job \($0)" } ?? "") + "\n"
  }

  /// Its status on several lines.
  fileprivate var sheet: String {
    let ended = total - pending
    var text = "\(title), of \(submittedBy.namingUsers.printable), \(Quantity.time(submittedAt))\n"
    text +=
      "  \(Quantity.count(ended)) of \(Quantity.count(total, "job")) ended, \(Quantity.count(failed)) of them failed"
    text += endedAt.map { ", the last \(Quantity.time($0))" } ?? ""
    text += "\n  \(ProgressLine.outcome(progress))\n"
    if let callback {
      text += "  then job \(callback), \(condition == .succeeded ? "if all succeed" : "however they end")\n"
    }
    return text
  }
}
