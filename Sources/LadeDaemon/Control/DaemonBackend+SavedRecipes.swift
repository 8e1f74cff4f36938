import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Importing
import Jobs

extension DaemonBackend {
  private static let definitionQueue = DispatchQueue(label: "control.recipes")

  var savesRecipes: Bool { configuration.savesRecipes }

  func recipe(_ name: String) async throws -> RecipeDefinition {
    if let fault = configuration.fault(ofRecipe: name) {
      throw ControlError.conflict(
        reason: "The saved recipe \(name) isn't used: \(fault.reason).", hint: RecipeFault.remedy(name))
    }
    guard let recipe = configuration.recipe(named: name) else { throw noSuchRecipe(name) }
    let (path, saved) = (loaded.path, loaded.configuration.savedRecipes)
    let read = try await Self.definitionQueue.result {
      do {
        return try LoadedConfiguration(
          path: path, environment: ProcessInfo.processInfo.environment, saved: saved)
      } catch let problems as ConfigurationProblems {
        throw ControlError.badConfiguration(problems.problems.map(\.description))
      }
    }
    guard let now = read.configuration.recipe(named: name), var settings = read.recipes[name] else {
      throw ControlError.conflict(
        reason: "Recipe \(recipe.name) isn't in the configuration any more.", hint: "'ladectl reload' applies that.")
    }
    for key in [RecipeConfiguration.Key.store, .entity] { settings[key.rawValue] = nil }
    return RecipeDefinition(
      name: name, store: now.store, entity: now.entity, settings: settings, isSaved: now.isSaved)
  }

  func save(_ draft: RecipeDraft, as name: String, by peer: Peer) async throws -> Reload {
    try check(saving: name, by: peer)
    if let other = configuration.recipe(named: name), !other.isSaved {
      throw ControlError.conflict(
        reason: "The files of the configuration have a recipe \(name).", hint: "Choose another name.")
    }
    try await translating { try check(draft) }
    let head = "# Saved by \(peer.who). Whatever is saved under this name replaces it.\n"
    return try await saved(.init(name: name, text: head + draft.yaml(named: name)), by: peer)
  }

  func removeRecipe(_ name: String, by peer: Peer) async throws -> Reload {
    try check(saving: name, by: peer)
    let isFaulty = configuration.fault(ofRecipe: name) != nil
    guard isFaulty || configuration.recipe(named: name) != nil else { throw noSuchRecipe(name) }
    guard isFaulty || configuration.recipe(named: name)?.isSaved == true else {
      throw ControlError.conflict(
        reason: "Recipe \(name) is one of the configuration's files.", hint: "Remove it there, and reload.")
    }
    return try await saved(.init(name: name, text: nil), by: peer)
  }

  private func saved(_ change: SavedRecipes.Change, by peer: Peer) async throws -> Reload {
    do {
      return try await reloader.save(change, by: peer.who)
    } catch let error as WriterError {
      throw ControlError.unavailable(
        reason: "The recipe can't be saved: \(error).", hint: "Nothing has changed.")
    } catch let error as UnrestoredRecipe {
      throw ControlError.unavailable(
        reason: "The recipe isn't used as it was asked for, but its file may say so: \(error).",
        hint: "The next reload or start reads that file.")
    }
  }

  private func check(saving name: String, by peer: Peer) throws {
    try permissions.checkOperator(peer, to: "save recipes, or remove them")
    guard configuration.savesRecipes else {
      throw ControlError.conflict(
        reason: "The configuration doesn't let recipes be saved.", hint: "Say `save_recipes: true` there, and reload.")
    }
    guard YAMLValue.Entry.isName(name) else {
      throw ControlError.invalid(
        field: "recipe", reason: "a name has 1 to 64 letters, digits, _ and -, and doesn't begin with -")
    }
    guard !Recipe.takenNames.contains(name) else {
      throw ControlError.invalid(
        field: "recipe", reason: "no recipe can be called \(name): the interface has a route of that name",
        hint: "Choose another name.")
    }
  }

  /// Refuses what no submission could say: who saves a recipe may have more rights than a submitter, but not through it.
  private func check(_ draft: RecipeDraft) throws {
    if case .map(let properties)? = draft.options[ImportOptionKey.properties.rawValue] {
      for (name, rule) in properties.sorted(by: { $0.key < $1.key }) {
        guard case .map(let keys) = rule, keys[PropertyRuleKey.mask.rawValue] != nil else { continue }
        throw SubmissionProblem(
          field: "options.properties.\(name).mask", reason: "masks are said in the configuration's files",
          advice: "Leave it out: masks of other recipes apply to saved ones, too.")
      }
    }
    _ = try plan.submission(
      JobSubmission(store: draft.store, entity: draft.entity, mode: draft.mode, options: draft.options), source: "",
      by: "")
  }

  private func noSuchRecipe(_ name: String) -> ControlError {
    .noSuchRecipe(name, known: configuration.recipes.map(\.name))
  }
}
