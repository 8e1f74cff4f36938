package import Jobs

/// A job that is done again and again.
package struct ScheduleConfiguration: Sendable, Equatable {
  package var name: String
  /// When: at every time that one of them stands for.
  package var calendar: [CalendarExpression]
  /// The job of each run. The source of an import is the path of its file, in one of the allowed folders.
  package var work: JobSubmission
  package var catchUp = Schedule.CatchUp.once
  /// A run may be late by less than this.
  package var randomizedDelay = Duration.zero
  package var isEnabled = true

  package init(name: String, calendar: [CalendarExpression], work: JobSubmission) {
    self.name = name
    self.calendar = calendar
    self.work = work
  }
}
