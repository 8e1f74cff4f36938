import Jobs
import Spool

/// A configuration with where its keys stand.
struct LoadedConfiguration: Sendable {
  /// The first of its files.
  let path: String
  let configuration: DaemonConfiguration
  let places: ConfigurationPlaces
  /// Its files and variables, in their order.
  let layers: [String]

  /// See ``DaemonConfiguration/load(path:environment:)``.
  /// - Parameter isOnlyChecked: whether nothing is to run by it: then secrets that are out of reach are left out.
  init(path: String, environment: [String: String], isOnlyChecked: Bool = false) throws(ConfigurationProblems) {
    let reading = ConfigurationReading(environment: environment, isOnlyChecked: isOnlyChecked)
    let layers = ConfigurationLayers(path: path, reading)
    var configuration = DaemonConfiguration()
    if let root = YAMLValue(key: "", layers: layers.layers) {
      configuration.read(root, in: ConfigurationFolder(of: path))
    } else if layers.areWhole {
      YAMLReader(file: path, reading: reading).report(.empty)
    }
    if !layers.areWhole { reading.forgetAbsences() }
    guard reading.problems.isEmpty else { throw ConfigurationProblems(reading.problems, layers: layers.names) }
    self.path = path
    self.configuration = configuration
    self.layers = layers.names
    places = reading.places
  }

  /// A problem with a key, told where that stands.
  func problem(_ kind: ConfigurationProblem.Kind, with key: String) -> ConfigurationProblem {
    places.problem(kind, with: key, otherwise: path)
  }
}

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
          .yaml(.conflict(key: key, problem: "files of this name count as unfinished: see `intake.partial_suffixes`")),
          with: key))
    }
    return problems.isEmpty ? [] : ConfigurationProblems(problems, layers: layers).problems
  }
}
