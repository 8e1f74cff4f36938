import ArgumentParser
import ControlAPI

/// The jobs that a verb changes: given by number, or all that match a filter.
struct JobsToChange: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The jobs' numbers: 12, a range such as 12-20, or 7,9,12-20.", valueName: "job"),
    completion: .jobs, transform: { try JobNumbers(parsing: $0) })
  var jobs: [JobNumbers] = []

  @Flag(help: "All jobs that match the filter, or all that the verb applies to. Asks on a terminal.")
  var all = false

  @Flag(help: "Don't ask for confirmation.")
  var yes = false

  @OptionGroup var filter: FilterOptions

  func validate() throws {
    guard all == jobs.isEmpty else {
      throw ValidationError(
        all ? "Give either jobs' numbers or --all." : "Which jobs? Give their numbers, or --all with a filter.")
    }
    guard all || filter.selection.isEverything else {
      throw ValidationError("A filter goes with --all: numbers say which jobs already.")
    }
  }
}

extension JobSelection {
  /// All jobs that haven't ended.
  static var unfinished: JobSelection { JobSelection(states: JobState.allCases.filter { !$0.isEnded }) }

  /// All jobs on hold. One that has been cancelled or discarded since keeps the mark, and can't be released.
  static var heldUnfinished: JobSelection { JobSelection(states: unfinished.states, isHeld: true) }
}

extension JSONShape {
  /// The output of every verb that changes jobs.
  static var changes: JSONShape {
    .either("a JobList of the jobs as they are now", "a JobChangeResult", when: "with --all or a range")
  }
}
