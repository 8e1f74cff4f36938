// Stores are opened at the start. A recipe or schedule may need a store that isn't open yet, or an entity of a model that has
// changed since. Such parts are set aside: the daemon goes on with what it had under their names, and the rest applies. A lane
// or recipe that is taken away stays as long as a part needs it that is set aside. A part that fits neither as it was nor as
// it is to be is removed until the restart, and listed as both.

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
    func keepLane(_ name: String?) {
      guard let name, plan.configuration.lane(named: name) == nil, let lane = current.configuration.lane(named: name)
      else { return }
      plan.configuration.lanes.append(lane)
      aside.insert("lanes.\(name)")
    }
    var gone: [String] = []
    func keepRecipe(_ name: String?) {
      guard let name, plan.configuration.recipe(named: name) == nil, !gone.contains("recipes.\(name)"),
        let recipe = current.configuration.recipe(named: name)
      else { return }
      plan.configuration.recipes.append(recipe)
      aside.insert("recipes.\(name)")
      keepLane(recipe.lane)
    }
    func drop(_ parts: [String]) {
      gone += parts
      plan.configuration.recipes.removeAll { parts.contains("recipes.\($0.name)") }
      plan.configuration.schedules.removeAll { parts.contains("schedules.\($0.name)") }
    }
    setAside(try plan.recipeMisfits().map(\.part))
    for recipe in plan.configuration.recipes where aside.contains("recipes.\(recipe.name)") { keepLane(recipe.lane) }
    drop(try plan.recipeMisfits().map(\.part))
    setAside(try plan.fittingSchedules().misfits.map(\.part))
    for schedule in plan.configuration.schedules where aside.contains("schedules.\(schedule.name)") {
      keepRecipe(schedule.work.recipe)
      keepLane(schedule.work.lane)
    }
    // A recipe that was kept may fit no more, either.
    drop(try plan.recipeMisfits().map(\.part))
    let fitting = try plan.fittingSchedules()
    drop(fitting.misfits.map(\.part))
    submissions = plan
    schedules = fitting.schedules
    let changes = current.configuration.changes(to: read)
    reload = Reload(
      changed: changes.now.filter { !aside.contains($0) },
      removed: changes.removed.filter { !aside.contains($0) } + gone,
      needsRestart: changes.atStart + aside.sorted(), needsMigration: current.stores.withOtherModels())
  }
}
