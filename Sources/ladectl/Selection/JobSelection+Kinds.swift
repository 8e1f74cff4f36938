import ControlAPI

extension JobSelection {
  /// Whatever hasn't ended.
  static var unfinished: JobSelection { JobSelection(states: JobState.allCases.filter { !$0.isEnded }) }
}

extension JSONShape {
  /// What every verb that changes jobs writes.
  static var changes: JSONShape {
    .either("a JobList of the jobs as they are now", "a JobChangeResult", when: "with --all or a range")
  }
}
