import ControlAPI

extension JobSelection {
  /// All jobs that haven't ended.
  static var unfinished: JobSelection { JobSelection(states: JobState.allCases.filter { !$0.isEnded }) }

  /// All jobs on hold. One that was cancelled or discarded meanwhile keeps the mark, and can't be released.
  static var heldUnfinished: JobSelection { JobSelection(states: unfinished.states, isHeld: true) }
}

extension JSONShape {
  /// The output of every verb that changes jobs.
  static var changes: JSONShape {
    .either("a JobList of the jobs as they are now", "a JobChangeResult", when: "with --all or a range")
  }
}
