import ControlAPI
import Importing
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

extension ScheduleConfiguration {
  enum Key: String, CaseIterable {
    case calendar, job, enabled
    case catchUp = "catch_up"
    case randomizedDelay = "randomized_delay"
  }

  enum JobKey: String, CaseIterable {
    case kind, recipe, source, store, entity, lane, priority, options
    case maxAttempts = "max_attempts"
  }

  /// What a schedule may refer to; names are nil where the file's own are unreadable, and nothing can be said of any.
  struct Surroundings {
    var names: RecipeConfiguration.Names
    var recipes: [String]
    /// Those of them that read a database.
    var databaseRecipes: Set<String> = []
    var folder: ConfigurationFolder
    var allowedFolders: [String]
    var timeZone: CalendarZone
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry, in surroundings: Surroundings) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value) else { return nil }
    let calendar = section.required(.calendar, "when it runs, such as daily or Mon..Fri 02:30")?
      .calendar(in: surroundings.timeZone)
    let work = section.required(.job, "what it does, such as {kind: check, store: main}")
      .flatMap { JobSubmission($0, in: surroundings) }
    var schedule = ScheduleConfiguration(
      name: entry.name, calendar: calendar ?? [], work: work ?? JobSubmission(kind: ""))
    schedule.catchUp = section[.catchUp]?.word(of: Schedule.CatchUp.self) ?? schedule.catchUp
    schedule.randomizedDelay =
      section[.randomizedDelay]?.duration(.zero ... .seconds(31 * 86_400)) ?? schedule.randomizedDelay
    schedule.isEnabled = section[.enabled]?.flag() ?? schedule.isEnabled
    guard isNamedWell, calendar != nil, work != nil else { return nil }
    self = schedule
  }
}

extension JobSubmission {
  /// Nil with a problem reported.
  fileprivate init?(_ value: YAMLValue, in surroundings: ScheduleConfiguration.Surroundings) {
    typealias Key = ScheduleConfiguration.JobKey
    guard let section = YAMLSection<Key>(value) else { return nil }
    let recipe = section[.recipe]?.name(among: surroundings.recipes)
    let usual = section[.recipe] == nil ? nil : ImportOperation.kind
    guard let kind = section[.kind]?.text() ?? usual else {
      if section[.kind] == nil {
        _ = section.required(
          .kind, "what is to be done, such as check; or a `recipe`, and the `source` to import by it")
      }
      return nil
    }
    self.init(kind: kind, recipe: recipe)
    let names = surroundings.names
    store = section[.store].flatMap { value in names.stores.map(value.name(among:)) ?? value.text() }
    entity = section[.entity]?.text()
    lane = section[.lane].flatMap { value in names.lanes.map(value.name(among:)) ?? value.text() }
    priority = section[.priority]?.integer(JobSubmission.priorityRange)
    maxAttempts = section[.maxAttempts]?.integer(JobSubmission.attemptsRange)
    options = section[.options]?.options() ?? [:]
    if kind == ImportOperation.kind, let recipe, surroundings.databaseRecipes.contains(recipe) {
      section[.source]?.conflict("recipe \(recipe) reads a database, and no file")
    } else if kind == ImportOperation.kind {
      let file = section.required(.source, "the file to import, in one of the `allowed_folders`")
      source = file?.path(in: surroundings.folder)
      if let file, let source, !surroundings.allowedFolders.contains(where: { source.hasPrefix($0 + "/") }) {
        file.conflict("“\(source)” is in none of the `allowed_folders`: add its folder to them")
      }
    } else {
      section[.recipe]?.conflict("recipes are for imports, and this is \(kind)")
      section[.source]?.conflict("only an import has a file, and this is \(kind)")
    }
    guard section.isWithoutProblems else { return nil }
  }
}
