import Glibc
package import LadeTypes

/// What an intake takes, and when. It can be replaced while the intake runs.
package struct SpoolSettings: Sendable {
  /// Names of recipes; each has a hot folder of its name in `incoming/`.
  let recipes: [String]
  /// What the sets of those recipes have whose hot folders take sets of files.
  let sets: [String: FileSet]
  /// Folders whose files a ticket may name as its source.
  let allowedFolders: [String]
  let timing: SpoolTiming
  let rules: SpoolRules

  /// - Parameter allowedFolders: absolute paths.
  /// - Throws: `SpoolError` for a recipe name that can't be a folder's name, and for a relative allowed folder.
  package init(
    recipes: Set<String>, sets: [String: FileSet] = [:], allowedFolders: [String], timing: SpoolTiming = SpoolTiming(),
    rules: SpoolRules = SpoolRules()
  ) throws {
    if let unusable = recipes.sorted().first(where: { !Self.canTake(hotFolder: $0, rules: rules) }) {
      throw SpoolError.unusableRecipeName(unusable)
    }
    self.recipes = recipes.sorted()
    self.sets = sets
    self.allowedFolders = try allowedFolders.map(Self.normalised)
    self.timing = timing
    self.rules = rules
  }

  /// Whether a recipe's name can be the name of its hot folder under these rules.
  package static func canTake(hotFolder recipe: String, rules: SpoolRules) -> Bool {
    let name = FileName(recipe)
    return name.count > 0 && !PartialNames(more: rules.partialSuffixes).match(name) && !name.isTicket
      && FileName(name.sanitised) == name
  }

  /// The examiner of entries for these settings.
  func examiner(of directories: SpoolDirectories) -> EntryExaminer {
    EntryExaminer(
      recipes: Set(recipes.map { FileName($0) }), allowedFolders: allowedFolders, protected: directories.protected,
      partialNames: PartialNames(more: rules.partialSuffixes), user: geteuid(), settle: timing.settle.nanoseconds,
      quiet: timing.quiet.nanoseconds, sourceGrace: timing.sourceGrace.nanoseconds,
      isShared: directories.sharedIncoming != nil)
  }

  /// An allowed folder without doubled and trailing slashes.
  private static func normalised(_ path: String) throws -> String {
    let components = path.split(separator: "/")
    guard path.hasPrefix("/"), !components.contains(".."), !components.contains("."), !path.contains("\0") else {
      throw SpoolError.allowedFolderNotAbsolute(path)
    }
    return "/" + components.joined(separator: "/")
  }
}

/// The rules for what is taken, apart from times.
package struct SpoolRules: Sendable, Equatable {
  /// Suffixes of unfinished files' names, in addition to the usual ones.
  package var partialSuffixes: [String] = []
  /// How many refused entries `corrupt/` may hold. Further ones stay where they are, because each costs the daemon a
  /// `.reason` file of its own.
  package var corruptLimit = 100_000

  /// No other suffixes; a hundred thousand entries.
  package init() {}
}

/// How long the intake waits, and for what.
package struct SpoolTiming: Sendable, Equatable {
  /// The time between two scans when no event asks for one.
  package var rescanInterval = Duration.seconds(60)
  /// How long an entry must have been unchanged if the daemon can't know whether its writer has finished; how long a
  /// directory or a file with two names is left alone before it is refused; and the delay before a retry after a failure.
  package var settle = Duration.seconds(5)
  /// How long an entry must have been unchanged in any case: for writers that close a file and open it again.
  package var quiet = Duration.zero
  /// How long a ticket waits for a source that isn't there, and a file for a ticket before the log says so.
  package var sourceGrace = Duration.seconds(60)

  /// A scan every minute, five seconds to settle, no quiet time, a minute's grace for sources.
  package init() {}
}

extension Duration {
  var nanoseconds: Int64 {
    let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : whole + components.attoseconds / 1_000_000_000
  }
}
