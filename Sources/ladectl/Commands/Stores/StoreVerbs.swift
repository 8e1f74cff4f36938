import ArgumentParser
import ControlAPI

extension Ladectl.StoreCommand {
  /// The depth of a check.
  enum Depth: String, ExpressibleByArgument, CaseIterable { case quick, full }

  /// `ladectl store vacuum`.
  struct Vacuum: StoreWork {
    static let kind = "vacuum"
    static let configuration = Ladectl.verb(
      "vacuum", "Give a store's free pages back to the disk.",
      """
      It writes the file anew, which needs as much room again and the store alone. --incremental gives back what is free \
      without that, a few pages at a time, once the file was made ready for it by --prepare-incremental.
      """, json: .submission)

    @Flag(help: "Only give back free pages, without writing the file anew.")
    var incremental = false

    @Option(help: ArgumentHelp("With --incremental: how many pages at most.", valueName: "n"))
    var pages: Int?

    @Flag(help: "Write the file so that --incremental can be used from then on; every later write costs a little more.")
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
      "optimise", "Let SQLite look at a store's tables anew, so that queries take the right index.", json: .submission,
      aliases: ["optimize"])

    @Option(help: ArgumentHelp("How many rows of each index it looks at; 0 for all.", valueName: "n"))
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
      "For those who copy the file by other means. Imports and readers go on beside it.", json: .submission)

    @Option(
      help: "passive waits for nobody, full copies all, restart lets the log begin anew, truncate makes it empty, too.")
    var mode: Mode?

    @Option(help: ArgumentHelp("How long to wait for readers that still need the log.", valueName: "seconds"))
    var patience: Int?

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    var options: [String: OptionValue?] {
      ["mode": mode.map { .string($0.rawValue) }, "wait": patience.map { .int($0) }]
    }
  }

  /// `ladectl store reindex`.
  struct Reindex: StoreWork {
    static let kind = "reindex"
    static let configuration = Ladectl.verb("reindex", "Make a store's indexes anew.", json: .submission)

    @Option(
      help: ArgumentHelp("Only the indexes of this entity; may be given again.", valueName: "name"),
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
      "check", "Look whether a store is whole: the file, its foreign keys, and the objects in it.",
      """
      A store that has damage ends the job as discarded, with the first problems as its reason, and all of them in a \
      report that 'ladectl show' names. Imports go on beside it.
      """, json: .submission)

    @Option(help: "How closely the file is looked at; quick leaves out whether indexes agree with their rows.")
    var depth: Depth?

    @Flag(help: "Look at the file only, and not at the objects in it.")
    var noObjects = false

    @Flag(help: "Mend what is safe to mend of the objects: inverses, and references that lead nowhere.")
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
        throw ValidationError("--repair mends objects: it doesn't go with --no-objects.")
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
      "backup", "Make a copy of a store in its folder of backups, and check it, while imports go on.",
      "What it is called and how large it is, is the job's note. Older ones go only when it has its name.",
      json: .submission)

    @Option(help: ArgumentHelp("How many backups of the store are kept, this one among them.", valueName: "n"))
    var keep: Int?

    @Option(help: "How it is packed; otherwise as the configuration says.")
    var compress: Compression?

    @Option(help: "How closely the copy is looked at.")
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
      "migrate", "Bring a store to the model as it is in its file now.",
      "It takes the store alone: imports wait. What may be lost with it, the configuration says.", json: .submission)

    @OptionGroup var work: StoreWorkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions
  }
}

extension JSONShape {
  /// The output of every verb that submits a job.
  static var submission: JSONShape { .either("a Job", "a JobList", when: "with --wait") }
}
