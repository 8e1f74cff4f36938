import ControlAPI
import Foundation
import Importing
import Jobs
import ManagedObjects
import PostgresStore
import SQLiteStore
import Spool
import StrictYAML

/// A configuration with where its keys stand.
struct LoadedConfiguration: Sendable {
  /// The first of its files.
  let path: String
  private(set) var configuration: DaemonConfiguration
  let places: ConfigurationPlaces
  /// Its files and variables, in their order.
  let layers: [String]
  /// What they say together.
  let settings: [ConfigurationSettings.Setting]
  /// What they say of each recipe, by its name.
  let recipes: [String: [String: OptionValue]]

  /// See ``DaemonConfiguration/load(path:environment:)``.
  /// - Parameters:
  ///   - isOnlyChecked: whether nothing is to run by it: then secrets that are out of reach are left out.
  ///   - saved: the saved recipes of a running daemon, for which another `state` needs a restart; nil for those in the
  ///     folder that the files name.
  ///   - change: what is to become of a saved recipe, as if it had been done.
  init(
    path: String, environment: [String: String], isOnlyChecked: Bool = false, saved: SavedRecipes? = nil,
    with change: SavedRecipes.Change? = nil
  ) throws(ConfigurationProblems) {
    let reading = ConfigurationReading(environment: environment, isOnlyChecked: isOnlyChecked)
    let layers = ConfigurationLayers(path: path, reading, saved: saved, with: change)
    var configuration = DaemonConfiguration()
    let credentials = MaskCredentials(folder: environment["CREDENTIALS_DIRECTORY"])
    configuration.credentials = isOnlyChecked && credentials.folder == nil ? nil : credentials
    let root = YAMLValue(key: "", layers: layers.layers)
    if let root {
      configuration.read(root, in: ConfigurationFolder(of: path), savedRecipes: layers.savedRecipes.values)
    } else if layers.areWhole {
      YAMLReader(file: path, reading: reading).report(.empty)
    }
    if !layers.areWhole { reading.forgetAbsences() }
    let problems = reading.problems.filter {
      layers.savedRecipes[$0.file] == nil || layers.maskingFiles.contains($0.file)
    }
    guard problems.isEmpty else { throw ConfigurationProblems(problems, layers: layers.names) }
    configuration.setAside(Dictionary(grouping: reading.problems) { layers.savedRecipes[$0.file] ?? "" })
    self.path = path
    self.configuration = configuration
    self.layers = layers.names
    places = reading.places
    settings = root?.settings ?? []
    let entries = root?.knownEntries().first { $0.name == DaemonConfiguration.Key.recipes.rawValue }
    recipes = Dictionary(entries?.value.knownEntries().map { ($0.name, $0.value.settingsByKey) } ?? []) { $1 }
  }

  /// A problem with a key, reported where that stands.
  func problem(_ kind: ConfigurationProblem.Kind, with key: String) -> ConfigurationProblem {
    places.problem(kind, with: key, otherwise: path)
  }
}

extension LoadedConfiguration {
  /// Sets the saved recipes aside that don't fit the models, and finds what is wrong beyond what the files say: models that
  /// can't be read, other recipes and schedules that don't fit them. Makes nothing. Blocks.
  mutating func problems(_ operations: OperationCatalogue) throws -> [ConfigurationProblem] {
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
    var plan = SubmissionPlan(configuration: readable, stores: stores, operations: operations)
    let misfits = try plan.recipeMisfits()
    let saved = misfits.filter { misfit in
      plan.configuration.recipes.contains { $0.isSaved && misfit.part == "recipes.\($0.name)" }
    }
    let faults = Dictionary(grouping: saved) { String($0.part.dropFirst("recipes.".count)) }.mapValues { misfits in
      misfits.map { problem(.unfit(key: $0.key, problem: $0.description), with: $0.key) }
    }
    configuration.setAside(faults)
    plan.configuration.setAside(faults)
    let parts = Set(saved.map(\.part))
    for misfit in try misfits.filter({ !parts.contains($0.part) }) + plan.fittingSchedules().misfits {
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

  /// What there is to say of a configuration that can be used: saved recipes that aren't used, schedules that therefore don't run,
  /// and what in the models keeps records of the recipes' files from being imported, or has no effect. Blocks.
  /// - Parameter operations: as ``problems(_:)`` has it.
  func warnings(_ operations: OperationCatalogue) throws -> [ConfigurationProblem] {
    var examined = self
    _ = try examined.problems(operations)
    let configuration = examined.configuration
    let idle = configuration.schedules.filter { schedule in
      schedule.work.recipe.map { configuration.fault(ofRecipe: $0) != nil } ?? false
    }
    return configuration.recipeFaults.flatMap(\.warnings)
      + idle.map { schedule in
        let key = "schedules.\(schedule.name)"
        let words = "the schedule \(schedule.name) doesn't run: the recipe \(schedule.work.recipe ?? "") isn't used"
        return problem(.unfit(key: key, problem: words), with: key)
      } + modelAdvice()
  }

  private func modelAdvice() -> [ConfigurationProblem] {
    DataStores.readable(configuration.stores).stores.all.flatMap { store in
      let name = store.configuration.name
      let imported = configuration.recipes.filter { $0.store == name }.map(\.entity)
      let key = "stores.\(name).model"
      let advice = ModelAdvice.on(
        store.coordinator.model, imported: imported.contains(ImportRequest.feed) ? nil : Set(imported))
      return advice.map { problem(.unfit(key: key, problem: $0), with: key) }
    }
  }

  /// The stores that couldn't be opened at the next start, because they can't be migrated to their models. Files that
  /// the caller may not read are left out, and servers that can't be reached. Makes nothing. Blocks.
  func migrationProblems() -> [ConfigurationProblem] {
    DataStores.readable(configuration.stores).stores.all.compactMap { store in
      let name = store.configuration.name
      let (model, options) = (store.coordinator.model, store.configuration.migration.options)
      do {
        switch store.configuration.place {
        case .file(let path):
          try SQLiteStore.checkMigration(at: URL(fileURLWithPath: path), to: model, options)
        case .postgres(let place):
          try PostgresStore.checkMigration(
            place.connection, schema: place.schema, password: place.password(), to: model, options)
        }
        return nil
      } catch is MaskingError {
        // Only the daemon has it.
        return nil
      } catch ManagedObjectError.store(let failure) where [.permission, .cannotOpen, .io].contains(failure.kind) {
        return nil
      } catch {
        let key = "stores.\(name).model"
        let reason = "the store \(name) couldn't be opened at the next start: \(error)"
        return problem(.unfit(key: key, problem: reason), with: key)
      }
    }
  }
}

extension DaemonConfiguration {
  /// Leaves saved recipes out.
  /// - Parameter faults: what is wrong with each, by its name.
  fileprivate mutating func setAside(_ faults: [String: [ConfigurationProblem]]) {
    recipeFaults += faults.sorted { $0.key < $1.key }.map { name, problems in
      RecipeFault(recipe: name, problems: problems, definition: recipe(named: name))
    }
    recipes.removeAll { faults[$0.name] != nil }
  }
}

extension YAMLValue {
  /// The keys that hold a secret.
  private static let secrets: Set<String> = ["metrics.token"]

  /// The value, or those of a mapping's keys, with the place of each.
  fileprivate var settings: [ConfigurationSettings.Setting] {
    let entries = knownEntries()
    // A later layer may have removed all of them.
    let isEmpty = entries.isEmpty && node.pairs.isEmpty
    if node.isMapping, !isEmpty, !Self.secrets.contains(key) { return entries.flatMap(\.value.settings) }
    return [
      .init(
        key: key, value: Self.secrets.contains(key) ? "(a secret)" : node.onOneLine, file: reader.file,
        line: reader.isVariable ? nil : node.place?.line)
    ]
  }
}

extension YAMLValue {
  /// The entries of a mapping that has been read.
  fileprivate var settingsByKey: [String: OptionValue] {
    Dictionary(knownEntries().compactMap { entry in entry.value.option.map { (entry.name, $0) } }) { $1 }
  }

  /// The value as it was written; nil for one that can't be an option, which reading has reported.
  private var option: OptionValue? {
    if node.isMapping { return .map(settingsByKey) }
    do throws(YAMLError) {
      return try node.option()
    } catch {
      return nil
    }
  }
}

extension YAMLNode {
  /// The value in YAML's flow style.
  fileprivate var onOneLine: String {
    if let elements { return "[" + elements.map(\.onOneLine).joined(separator: ", ") + "]" }
    guard let string else {
      return "{" + pairs.map { "\($0.key.string ?? "?"): \($0.value.onOneLine)" }.joined(separator: ", ") + "}"
    }
    if isPlain { return string.isEmpty ? "~" : string }
    let escaped = string.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    return "\"" + escaped + "\""
  }
}
