import ArgumentParser
import ControlAPI

extension Ladectl.Model {
  /// `ladectl model diff`: compares a file with its model.
  struct Diff: ControlCommand {
    static let configuration = Ladectl.verb(
      "diff", "Show where a file doesn't fit its model, and what the recipe's schema says about it.",
      """
      Reads the file as an import would, without a job and without changes, for a minute at most. Without a recipe, name the \
      entity. Exits with 1 if the import would fail for a difference, and with 2 if it would reject records for one.

        ladectl model diff people.csv --recipe people
      """, json: .document("a ModelDiff"))

    @Argument(help: "The file.", completion: .file())
    var file: String

    @OptionGroup var target: ImportTarget
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
      guard (target.recipe == nil) != (target.entity == nil) else {
        throw ValidationError("Say what the file would be imported into: either --recipe, or --entity.")
      }
      guard target.mode == nil else {
        throw ValidationError("A model is compared in the same way for every mode: leave --mode out.")
      }
      _ = try NamedOption.values(target.option)
    }

    func run(_ session: Session) async throws {
      let source = AbsolutePath.of(file)
      var request = ModelDiffRequest(
        source: source, recipe: target.recipe, store: target.store, entity: target.entity,
        options: try NamedOption.values(target.option))
      let diff: ModelDiff
      do {
        diff = try await session.client.diff(request)
      } catch ControlClientError.refused(let problem) where problem.code == Problem.unreachableSource {
        let copied = try await session.client.withCopy(of: source) { path in
          request.source = path
          return try await session.client.diff(request)
        }
        guard let copied else { throw ControlClientError.refused(problem) }
        diff = copied
      }
      try session.report(diff) { diff.text(session.terminal.style) }
      guard diff.exitStatus == .success else { throw diff.exitStatus.silently }
    }
  }
}

extension ModelDiff {
  fileprivate var exitStatus: ExitStatus {
    if failure != nil || changes.contains(where: { $0.contract == "freeze" }) { return .failed }
    return changes.contains(where: \.rejectsRecords) ? .completedWithRejects : .success
  }

  fileprivate func text(_ style: Style) -> String {
    let what = isWhole ? "The whole file" : "The file's beginning"
    if let failure { return style("It can't be compared: \(failure.printable)", .red) + "\n" }
    if changes.isEmpty { return "\(what) (\(records) records) fits \(target).\n" }
    var text = "\(what) (\(records) records) doesn't fit \(target):\n"
    for change in changes { text += "  " + change.text.printable + "\n" }
    if others > 0 { text += "  and \(others) more\n" }
    return text
  }

  private var target: String { "\(entity) of store \(store)".printable }
}

extension ModelDiff.Change {
  fileprivate var rejectsRecords: Bool { contract == "discard_row" && subject != "entities" && values > 0 }

  /// One line: what differs, what would fit, and what becomes of it.
  fileprivate var text: String {
    let place = file.map { "\($0): " } ?? ""
    var number = "\(values) value\(values == 1 ? "" : "s")"
    if let example { number += ", such as “\(example)”" }
    if let line { number += " in line \(line)" }
    switch subject {
    case "types":
      let wider = newType.map { " (\($0) would)" } ?? ""
      return
        "\(place)type: \(attribute ?? column ?? "") is \(type ?? ""), which doesn't hold \(number)\(wider): \(contract)"
    case "columns":
      let name = attribute.map { " as \($0)" } ?? ""
      let kind = newType.map { ", \($0)\(name)" } ?? (values > 0 ? ", which no attribute can take" : "")
      return "\(place)new column: \(column ?? "")\(kind), \(number): \(contract)"
    default: return "\(place)new entity: no entity has this file: \(contract)"
    }
  }
}
