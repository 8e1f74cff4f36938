import ArgumentParser
import ControlAPI

extension Ladectl.StoreCommand {
  /// The depth of a check.
  enum Depth: String, ExpressibleByArgument, CaseIterable { case quick, full }

  /// `ladectl store vacuum`.
  struct Vacuum: StoreWork {
    static let kind = "vacuum"
    static let configuration = Ladectl.verb(
      "vacuum", "Release a store's free space.",
      """
      Rewrites the file, which needs as much space again and exclusive access to the store. --incremental avoids that and \
      releases free pages step by step, once --prepare-incremental has prepared the file.
      """, json: .submission)

    @Flag(help: "Only release free pages, without rewriting the file.")
    var incremental = false

    @Option(help: ArgumentHelp("With --incremental: the maximum number of pages.", valueName: "n"))
    var pages: Int?

    @Flag(help: "Rewrite the file so that --incremental works from now on; later writes cost a little more.")
    var prepareIncremental = false

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    var options: [String: OptionValue?] {
      [
        "incremental": incremental ? .bool(true) : nil, "pages": pages.map { .int($0) },
        "prepare_incremental": prepareIncremental ? .bool(true) : nil,
      ]
    }
  }

  /// `ladectl store optimise`.
  struct Optimise: StoreWork {
    static let kind = "optimise"
    static let configuration = Ladectl.verb(
      "optimise", "Update the statistics by which a store's queries choose indexes.", json: .submission,
      aliases: ["optimize"])

    @Option(help: ArgumentHelp("Number of rows of each index to sample; 0 for all.", valueName: "n"))
    var sample: Int?

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    var options: [String: OptionValue?] { ["sample": sample.map { .int($0) }] }
  }

  /// `ladectl store checkpoint`.
  struct Checkpoint: StoreWork {
    /// The checkpoint mode.
    enum Mode: String, ExpressibleByArgument, CaseIterable { case passive, full, restart, truncate }

    static let kind = "checkpoint"
    static let configuration = Ladectl.verb(
      "checkpoint", "Copy a store's write-ahead log into its file.",
      "For copying the file by other means. Imports and readers continue.", json: .submission)

    @Option(
      help: "passive doesn't wait, full copies everything, restart also restarts the log, truncate also empties it.")
    var mode: Mode?

    @Option(help: ArgumentHelp("How long to wait for readers that need the log.", valueName: "seconds"))
    var patience: Int?

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    var options: [String: OptionValue?] {
      ["mode": mode.map { .string($0.rawValue) }, "patience": patience.map { .int($0) }]
    }
  }

  /// `ladectl store reindex`.
  struct Reindex: StoreWork {
    static let kind = "reindex"
    static let configuration = Ladectl.verb("reindex", "Rebuild a store's indexes.", json: .submission)

    @Option(
      help: ArgumentHelp("Only the indexes of this entity; repeatable.", valueName: "name"),
      completion: .entities)
    var entity: [String] = []

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    var options: [String: OptionValue?] { ["entities": entity.isEmpty ? nil : .list(entity.map { .string($0) })] }
  }

  /// `ladectl store check`.
  struct Check: StoreWork {
    static let kind = "check"
    static let configuration = Ladectl.verb(
      "check", "Check the integrity of a store: the file, its foreign keys, and its objects.",
      """
      If the store is damaged, the job is discarded with the first problems as its reason; 'ladectl show' names the full \
      report. Imports continue.
      """, json: .submission)

    @Option(help: "The depth of the check; quick doesn't compare indexes with their rows.")
    var depth: Depth?

    @Flag(help: "Check only the file, not the objects in it.")
    var noObjects = false

    @Flag(help: "Repair what is safe to repair: inverses and dangling references.")
    var repair = false

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    var options: [String: OptionValue?] {
      [
        "depth": depth.map { .string($0.rawValue) }, "objects": noObjects ? .bool(false) : nil,
        "repair": repair ? .bool(true) : nil,
      ]
    }

    func validate() throws {
      guard !noObjects || !repair else {
        throw ValidationError("--repair repairs objects: it doesn't go with --no-objects.")
      }
      _ = try work.other.merged(with: options)
    }
  }

  /// `ladectl store backup`.
  struct Backup: StoreWork {
    /// The compression.
    enum Compression: String, ExpressibleByArgument, CaseIterable { case none, gzip, zstd }

    static let kind = "backup"
    static let configuration = Ladectl.verb(
      "backup", "Copy a store into its backup folder and check the copy, while imports continue.",
      "The job's note has its name and size. Older backups are removed only after it is complete.",
      json: .submission)

    @Option(help: ArgumentHelp("Number of backups of the store to keep, including this one.", valueName: "n"))
    var keep: Int?

    @Option(help: "The compression (default: as configured).")
    var compress: Compression?

    @Option(help: "The depth of the check of the copy.")
    var check: Depth?

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    var options: [String: OptionValue?] {
      [
        "keep": keep.map { .int($0) }, "compress": compress.map { .string($0.rawValue) },
        "check": check.map { .string($0.rawValue) },
      ]
    }
  }

  /// `ladectl store migrate`.
  struct Migrate: StoreWork {
    static let kind = "migrate"
    static let configuration = Ladectl.verb(
      "migrate", "Migrate a store to the current version of its model.",
      "It needs exclusive access to the store: imports wait. The configuration says what a migration may lose.",
      json: .submission)

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions
  }
}

extension Ladectl.StoreCommand {
  /// `ladectl store revert`.
  struct Revert: StoreWork {
    static let kind = "revert"
    static let configuration = Ladectl.verb(
      "revert", "Take back the current version of a store's model, which an import has made.",
      """
      The version before becomes current, and the store is migrated to it. It is refused if values would be lost. It needs \
      exclusive access to the store: imports wait.
      """, json: .submission)

    @Flag(help: "Also if values are lost.")
    var force = false

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    var options: [String: OptionValue?] { ["force": force ? .bool(true) : nil] }
  }
}

extension JSONShape {
  /// The output of every verb that submits a job.
  static var submission: JSONShape { .either("a Job", "a JobList", when: "with --wait") }
}
