// Stores are opened at the start. A recipe or schedule may need a store that isn't open yet, or an entity of a model that has
// changed since. Such parts are set aside: the daemon goes on with what it had under their names, and the rest applies.

import ControlAPI
import Jobs

/// What a daemon makes of a configuration without mistakes: what applies at once, and what needs a restart.
struct ReloadPlan: Sendable {
  /// The configuration that applies, over the open stores.
  let submissions: SubmissionPlan
  let schedules: [JobSchedule]
  let reload: Reload

  /// Reads models. Blocks.
  /// - Parameters:
  ///   - read: a configuration that ``LoadedConfiguration/problems(_:)`` has accepted.
  ///   - current: what the daemon works by.
  ///   - started: what it was started with.
  init(_ read: DaemonConfiguration, over current: SubmissionPlan, since started: DaemonConfiguration) throws {
    var plan = current
    plan.configuration = read.inForce(since: started)
    var aside = Set<String>()
    func setAside(_ parts: [String]) {
      aside.formUnion(parts)
      let isAside = Set(parts)
      plan.configuration.recipes = plan.configuration.recipes.compactMap {
        isAside.contains("recipes.\($0.name)") ? current.configuration.recipe(named: $0.name) : $0
      }
      plan.configuration.schedules = plan.configuration.schedules.compactMap {
        isAside.contains("schedules.\($0.name)") ? current.configuration.schedule(named: $0.name) : $0
      }
    }
    func drop(_ parts: [String]) {
      plan.configuration.recipes.removeAll { parts.contains("recipes.\($0.name)") }
      plan.configuration.schedules.removeAll { parts.contains("schedules.\($0.name)") }
    }
    // A former part may not fit any more, either: its lane or recipe may be gone.
    setAside(try plan.recipeMisfits().map(\.part))
    drop(try plan.recipeMisfits().map(\.part))
    setAside(try plan.fittingSchedules().misfits.map(\.part))
    let fitting = try plan.fittingSchedules()
    drop(fitting.misfits.map(\.part))
    submissions = plan
    schedules = fitting.schedules
    let changes = current.configuration.changes(to: read)
    reload = Reload(
      changed: changes.now.filter { !aside.contains($0) }, removed: changes.removed,
      needsRestart: changes.atStart + aside.sorted(), needsMigration: current.stores.withOtherModels())
  }
}
