import ArgumentParser
import ControlAPI

/// A filter for jobs, for lists and for bulk changes.
struct FilterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only jobs in these states, separated by commas: \(JobState.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "state,…"),
    completion: .jobStates, transform: { try Self.states($0) })
  var state: [JobState]?

  @Option(help: ArgumentHelp("Only jobs of this kind: import, vacuum, …", valueName: "kind"), completion: .jobKinds)
  var kind: String?

  @Option(help: ArgumentHelp("Only jobs in this lane.", valueName: "name"), completion: .lanes)
  var lane: String?

  @Option(help: ArgumentHelp("Only jobs on this store.", valueName: "name"), completion: .stores)
  var store: String?

  @Option(help: ArgumentHelp("Only jobs for this entity.", valueName: "name"), completion: .entities)
  var entity: String?

  @Option(help: ArgumentHelp("Only jobs of this recipe.", valueName: "name"), completion: .recipes)
  var recipe: String?

  @Option(help: ArgumentHelp("Only jobs with this tag.", valueName: "word"))
  var tag: String?

  @Option(help: ArgumentHelp("Only jobs submitted by this user.", valueName: "user"))
  var by: String?

  @Option(help: ArgumentHelp("Only jobs with this unique key.", valueName: "key"))
  var uniqueKey: String?

  @Option(help: ArgumentHelp("Only jobs of this batch.", valueName: "n"))
  var batch: Int64?

  @Option(
    help: ArgumentHelp("Only jobs that failed with a code like this: 'unique*'.", valueName: "pattern"))
  var error: String?

  @Option(help: ArgumentHelp("Only jobs of files with a name like this: '*.csv'.", valueName: "pattern"))
  var file: String?

  @Option(
    help: ArgumentHelp("Only jobs submitted at this time or later: 7d, 12h, 2026-03-01T12:00:00Z.", valueName: "time"),
    transform: { try PastTime(parsing: $0) })
  var since: PastTime?

  @Flag(help: "Only jobs on hold.")
  var held = false

  var selection: JobSelection {
    JobSelection(
      states: state ?? [], kind: kind, lane: lane, store: store, entity: entity, recipe: recipe, tag: tag,
      submittedBy: by, uniqueKey: uniqueKey, batch: batch, isHeld: held ? true : nil, error: error,
      file: file, since: since?.date)
  }

  /// Reads `running,available`.
  static func states(_ text: String) throws -> [JobState] {
    try text.split(separator: ",").map { name in
      guard let state = JobState(rawValue: String(name)) else {
        let known = JobState.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\(name)' isn't a state of a job; there are \(known).")
      }
      return state
    }
  }
}
