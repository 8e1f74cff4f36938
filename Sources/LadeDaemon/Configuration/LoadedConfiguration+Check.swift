import Jobs
import Spool

extension LoadedConfiguration {
  /// What is wrong with a configuration that can be read, beyond what its files say: models that can't be read, recipes and
  /// schedules that don't fit them. Makes nothing. Blocks.
  func problems(_ operations: OperationCatalogue) throws -> [ConfigurationProblem] {
    let (stores, errors) = DataStores.readable(configuration.stores)
    var problems = errors.map { error in
      let key = if case .store(let name, _, _) = error { "stores.\(name).model" } else { "stores" }
      return problem(.unfit(key: key, problem: error.description), with: key)
    }
    var readable = configuration
    // Of what goes into the others nothing can be said.
    let isKnown: (String?) -> Bool = { $0.map { stores[$0] != nil } ?? errors.isEmpty }
    readable.recipes.removeAll { !isKnown($0.store) }
    readable.schedules.removeAll { schedule in
      let recipe = schedule.work.recipe.flatMap { configuration.recipe(named: $0)?.store }
      return !isKnown(schedule.work.store ?? recipe)
    }
    let plan = SubmissionPlan(configuration: readable, stores: stores, operations: operations)
    for misfit in try plan.recipeMisfits() + plan.fittingSchedules().misfits {
      problems.append(problem(.unfit(key: misfit.key, problem: misfit.description), with: misfit.key))
    }
    for recipe in configuration.recipes
    where !SpoolSettings.canTake(hotFolder: recipe.name, rules: configuration.intake.rules) {
      let key = "recipes.\(recipe.name)"
      problems.append(
        problem(
          .conflict(key: key, problem: "files of this name count as unfinished: see `intake.partial_suffixes`"),
          with: key))
    }
    return problems.isEmpty ? [] : ConfigurationProblems(problems, layers: layers).problems
  }
}
