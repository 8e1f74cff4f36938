package import ControlAPI
package import Jobs

/// A job that is done again and again.
package struct ScheduleConfiguration: Sendable, Equatable {
  /// What each run is. Of an import the recipe says what the file becomes.
  package struct Work: Sendable, Equatable {
    package var kind: String
    package var recipe: String?
    /// The file that is imported each time, in one of the allowed folders; nil for what is no import.
    package var source: String?
    package var store: String?
    package var entity: String?
    /// The name of a lane of the configuration; nil for the kind's usual one.
    package var lane: String?
    package var priority: Int?
    package var maxAttempts: Int?
    package var options: [String: OptionValue] = [:]

    package init(kind: String) { self.kind = kind }
  }

  package var name: String
  /// When: at every time that one of them stands for.
  package var calendar: [CalendarExpression]
  package var work: Work
  package var catchUp = Jobs.ScheduleConfiguration.CatchUp.once
  /// A run may be late by less than this.
  package var randomizedDelay = Duration.zero
  package var isEnabled = true

  package init(name: String, calendar: [CalendarExpression], work: Work) {
    self.name = name
    self.calendar = calendar
    self.work = work
  }
}
