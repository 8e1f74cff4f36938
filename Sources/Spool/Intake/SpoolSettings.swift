/// What an intake takes, and when: what it can be told anew while it runs.
package struct SpoolSettings: Sendable {
  /// Names of recipes; each has a hot folder of its name in `incoming/`.
  let recipes: [String]
  /// Folders whose files a ticket may name as its source.
  let allowedFolders: [String]
  let timing: SpoolTiming
  let rules: SpoolRules

  /// - Parameter allowedFolders: absolute paths.
  /// - Throws: `SpoolError` for a recipe's name that can't be a folder's and for a relative allowed folder.
  package init(
    recipes: Set<String>, allowedFolders: [String], timing: SpoolTiming = SpoolTiming(),
    rules: SpoolRules = SpoolRules()
  ) throws {
    if let unusable = recipes.sorted().first(where: { !Self.canTake(hotFolder: $0, rules: rules) }) {
      throw SpoolError.unusableRecipeName(unusable)
    }
    self.recipes = recipes.sorted()
    self.allowedFolders = try allowedFolders.map(SpoolIntake.normalised)
    self.timing = timing
    self.rules = rules
  }

  /// Whether a recipe's name can be that of its hot folder, by these rules.
  package static func canTake(hotFolder recipe: String, rules: SpoolRules) -> Bool {
    let name = FileName(recipe)
    return name.count > 0 && !PartialNames(more: rules.partialSuffixes).match(name) && !name.isTicket
      && FileName(name.sanitised) == name
  }

  /// What looks at entries by them.
  func examiner(of directories: SpoolDirectories) -> EntryExaminer {
    EntryExaminer(
      recipes: Set(recipes.map { FileName($0) }), allowedFolders: allowedFolders, own: directories.own,
      partialNames: PartialNames(more: rules.partialSuffixes), user: SpoolIntake.user,
      settle: timing.settle.nanoseconds, quiet: timing.quiet.nanoseconds, sourceGrace: timing.sourceGrace.nanoseconds)
  }
}
