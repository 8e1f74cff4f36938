import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl recipe`: commands for recipes.
  struct RecipeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "recipe", abstract: "Show the recipes, test one, move its cursor, and remove one that was saved.",
      subcommands: [List.self, Show.self, Test.self, Cursor.self, Remove.self], defaultSubcommand: List.self)

    /// `ladectl recipe list`.
    struct List: ControlCommand {
      static let configuration = verb("list", "Show the configuration's recipes.", json: .document("a RecipeList"))

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let list = try await session.client.recipes()
        try session.report(list) {
          guard !list.recipes.isEmpty else { return "No recipes: the configuration's 'recipes' makes them.\n" }
          let table = TextTable(
            columns: [.init("RECIPE"), .init("STORE"), .init("ENTITY"), .init("LANE")],
            rows: list.recipes.filter { $0.fault == nil }.map {
              [.init($0.name), .init($0.store), .init($0.entity), .init($0.lane)]
            }
          ).rendered(width: session.terminal.width, style: session.terminal.style)
          let faults = list.recipes.compactMap { recipe in
            recipe.fault.map { "The saved recipe \(recipe.name) isn't used: \($0.printable)\n" }
          }
          return table + session.terminal.style(faults.joined(), .red)
        }
      }
    }

    /// `ladectl recipe show`: what the configuration says of a recipe.
    struct Show: ControlCommand {
      static let configuration = verb(
        "show", "Show what the configuration says of a recipe, with the place of each key.",
        json: .document("a ConfigurationSettings of the recipe's keys"))

      @Argument(help: ArgumentHelp("The recipe.", valueName: "recipe"), completion: .recipes)
      var name: String

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let key = "recipes.\(name)"
        let settings = try await session.client.configurationSettings().under(key)
        guard !settings.settings.isEmpty else {
          throw LocalFailure.noSuchRecipe(name, known: try await session.client.recipes().recipes.map(\.name))
        }
        try session.report(settings) {
          settings.table(without: key + ".").rendered(width: session.terminal.width, style: session.terminal.style)
        }
      }
    }

    /// `ladectl recipe test`: shows what an import would do.
    struct Test: ControlCommand {
      static let configuration = verb(
        "test", "Show what an import of a file, or of its beginning, would do, without a job and without changes.",
        """
        Without a recipe, name the entity. Without a file, the recipe reads a database: then what the next job would read is \
        tried. Exits with 1 if the import would fail or import nothing, and with 2 if it would \
        reject some records.

          ladectl recipe test people.csv --recipe people
          ladectl recipe test people.csv --entity Person --records 10000 \\
            --option 'delimiter=;'
          ladectl recipe test --recipe orders
        """, json: .document("a RecipeTestResult"))

      @Argument(help: "The file; none for a recipe that reads a database.", completion: .file())
      var file: String?

      @OptionGroup var target: ImportTarget

      @Option(
        help: ArgumentHelp(
          "Maximum number of records, up to \(RecipeTest.maximumRecords) (default: 1000).", valueName: "n"))
      var records: Int?

      @Option(
        help: ArgumentHelp(
          "How many of the first records to show as they would be stored, up to \(RecipeTest.maximumRows).",
          valueName: "n"))
      var rows: Int?

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func validate() throws {
        guard (target.recipe == nil) != (target.entity == nil) else {
          throw ValidationError("Say what to do with the file: either --recipe, or --entity.")
        }
        guard file != nil || target.recipe != nil else {
          throw ValidationError("Name the file, or by --recipe a recipe that reads a database.")
        }
        guard records.map({ (1...RecipeTest.maximumRecords).contains($0) }) ?? true else {
          throw ValidationError("--records is a number from 1 to \(RecipeTest.maximumRecords).")
        }
        guard rows.map({ (0...RecipeTest.maximumRows).contains($0) }) ?? true else {
          throw ValidationError("--rows is a number from 0 to \(RecipeTest.maximumRows).")
        }
        _ = try NamedOption.values(target.option)
      }

      func run(_ session: Session) async throws {
        let source = file.map { AbsolutePath.of($0) }
        var test = RecipeTest(
          source: source, recipe: target.recipe, store: target.store, entity: target.entity, mode: target.mode,
          options: try NamedOption.values(target.option), records: records, rows: rows)
        let result: RecipeTestResult
        do {
          result = try await session.client.test(test)
        } catch ControlClientError.refused(let problem) where problem.code == Problem.unreachableSource {
          guard let source else { throw ControlClientError.refused(problem) }
          let copied = try await session.client.withCopy(of: source) { path in
            test.source = path
            return try await session.client.test(test)
          }
          guard let copied else { throw ControlClientError.refused(problem) }
          result = copied
        }
        try session.report(result) { result.text(session.terminal.style, isOfFile: file != nil) }
        guard result.exitStatus == .success else { throw result.exitStatus.silently }
      }
    }
  }
}

extension Ladectl.RecipeCommand {
  /// `ladectl recipe cursor`: shows and moves a cursor.
  struct Cursor: ControlCommand {
    static let configuration = Ladectl.verb(
      "cursor", "Show how far a recipe has read its database, or have it read on from elsewhere.",
      """
      Moving it is for operators, and refused while a job of the recipe hasn't ended. The next job reads from the given value \
      less the recipe's lag.

        ladectl recipe cursor orders
        ladectl recipe cursor orders --set '2026-11-01 00:00:00'
        ladectl recipe cursor orders --reset
      """, json: .document("a CursorStatus"))

    @Argument(help: ArgumentHelp("The recipe.", valueName: "recipe"), completion: .recipes)
    var name: String

    @Option(help: ArgumentHelp("Its new value.", valueName: "value"))
    var set: String?

    @Flag(help: "Forget it: the next job reads every row.")
    var reset = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard set == nil || !reset else { throw ValidationError("Give either --set or --reset.") }
    }

    func run(_ session: Session) async throws {
      let status =
        set == nil && !reset
        ? try await session.client.cursor(of: name)
        : try await session.client.setCursor(of: name, to: CursorChange(value: set))
      try session.report(status) { status.text }
    }
  }
}

extension Ladectl.RecipeCommand {
  /// `ladectl recipe remove`: removes a recipe that was saved.
  struct Remove: ControlCommand {
    static let configuration = Ladectl.verb(
      "remove", "Remove a recipe that was saved with the pages or over HTTP, also one that isn't used.",
      """
      For operators. Recipes of the configuration's files are removed there. Jobs that it has made go on.

        ladectl recipe remove orders
      """, json: .document("a Reload"))

    @Argument(help: ArgumentHelp("The recipe.", valueName: "recipe"), completion: .recipes)
    var name: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let reload = try await session.client.removeRecipe(name)
      try session.report(reload) { "The recipe \(name.printable) was removed.\n" }
    }
  }
}

extension CursorStatus {
  fileprivate var text: String {
    guard let value else { return "\(column): every row is read next".printable + "\n" }
    let who = job.map { "by job \($0)" } ?? "by an operator"
    let when = movedAt.map { ", \(Quantity.time($0)) \(who)" } ?? ""
    return "\(column): \(value)\(when)".printable + "\n"
  }
}

extension RecipeTestResult {
  fileprivate var exitStatus: ExitStatus {
    if failure != nil || importsNothing { return .failed }
    return progress.rejected > 0 ? .completedWithRejects : .success
  }

  private var importsNothing: Bool { progress.records > 0 && progress.rejected == progress.records }

  fileprivate func text(_ style: Style, isOfFile: Bool) -> String {
    let mode = mode.map { ", mode \($0.rawValue)" } ?? ""
    let beginning = isOfFile ? "the file's beginning" : "the first rows"
    let part =
      isOfFile ? (isWhole ? "The whole file" : "The file's beginning") : isWhole ? "All rows" : "The first rows"
    var text = "\(part) into \(entity) of store \(store)\(mode):\n"
    text += "  " + ProgressLine.outcome(progress) + "\n"
    for note in notes { text += "  \(note.printable)\n" }
    text += RecipeTestExample.text(examples)
    if let rows, !rows.rows.isEmpty { text += rows.table.rendered(width: nil, style: style) }
    if rejects.count > 0 { text += RejectSheet(report: rejects).groups(style: style) }
    if let failure { text += "\n" + style("The import would fail: \(failure.printable)", .red) + "\n" }
    if failure == nil, importsNothing {
      let which = isWhole ? "The import would import nothing" : "Nothing of \(beginning) would be imported"
      text += "\n" + style("\(which): every record is rejected.", .red) + "\n"
    }
    return text
  }
}
