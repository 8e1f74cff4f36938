import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// What the configuration says, and what is wrong with it.
  func configuration(_ visit: Visit) async throws -> PageAnswer {
    try visit.query().refuseNames(otherThan: [])
    return .page(try await configurationPage(visit).page)
  }

  /// Has the daemon read its configuration again.
  func reload(_ visit: Visit) async throws -> PageAnswer {
    log("reload the configuration", visit)
    let reload: Reload
    do {
      reload = try await backend.reload(by: visit.peer)
    } catch ControlError.badConfiguration {
      // The page says what is wrong, and that nothing of it was applied.
      return .page(try await configurationPage(visit).page, .unprocessableContent)
    }
    return .page(try await configurationPage(visit, reload: reload).page)
  }

  private func configurationPage(_ visit: Visit, reload: Reload? = nil) async throws -> ConfigurationPage {
    let found = try await backend.checkConfiguration()
    let settings: ConfigurationSettings?
    do {
      settings = try await backend.configurationSettings()
    } catch ControlError.badConfiguration {
      settings = nil
    }
    return ConfigurationPage(
      found: found, settings: settings, saved: backend.recipes().filter(\.isSaved), reload: reload,
      mayOperate: mayOperate(visit))
  }

  /// The question before a saved recipe is removed.
  func recipeRemovalPage(_ visit: Visit) throws -> RecipeRemovalPage {
    let name = try visit.name("recipe")
    let recipes = backend.recipes()
    guard let recipe = recipes.first(where: { $0.name == name }) else {
      throw ControlError.noSuchRecipe(name, known: recipes.map(\.name))
    }
    return RecipeRemovalPage(recipe: recipe, mayOperate: mayOperate(visit))
  }

  func removeRecipe(_ visit: Visit) async throws -> PageAnswer {
    var shown = try recipeRemovalPage(visit)
    log("remove recipe \(shown.recipe.name)", visit)
    do {
      _ = try await backend.removeRecipe(shown.recipe.name, by: visit.peer)
      return .redirect(.configuration)
    } catch let error as ControlError {
      shown.mistake = error.problem
      return .page(shown.page, .init(code: error.problem.status))
    }
  }
}

/// Asks whether a saved recipe is to be removed.
struct RecipeRemovalPage {
  let recipe: Recipe
  let mayOperate: Bool
  var mistake: Problem?

  var page: Page {
    Page("Remove recipe \(recipe.name)?", .configuration) {
      mistake.map { HTML.mistake($0) }
      if let fault = recipe.fault {
        HTML.element("p", .style("problem")) {
          "It isn't used: "
          HTML.name(fault)
        }
      }
      HTML.element("p") {
        "Files can't be imported by it any more, and what is in its hot folder stays there. Jobs that it has made go on."
      }
      if !recipe.isSaved {
        HTML.element("p") { "It is one of the configuration's files: remove it there, and reload." }
      } else if mayOperate {
        HTML.element("form", .other("method", "post"), .action(.removeRecipe(recipe.name)), .style("buttons")) {
          HTML.element("button", .other("type", "submit"), .style("main")) { "Remove it" }
          HTML.button("Leave it", .configuration)
        }
      } else {
        HTML.element("p") { "It can't be removed here: only operators remove recipes, and not on read-only pages." }
      }
    }
  }
}

/// The configuration as its files say it, with the mistakes in it and what a reload would change.
struct ConfigurationPage {
  let found: ConfigurationCheck
  /// Nil where the files can't be read.
  let settings: ConfigurationSettings?
  /// The recipes that clients have saved, those too that aren't used.
  let saved: [Recipe]
  /// What a reload has just done.
  let reload: Reload?
  let mayOperate: Bool

  var page: Page {
    Page("Configuration", .configuration) {
      if let reload { HTML.element("section", .other("role", "status"), .label("Reload")) { outcome(reload) } }
      HTML.element("section", .label("Check")) { verdict }
      if !saved.isEmpty { HTML.element("section", .label("Saved recipes")) { savedRecipes } }
      if let settings { HTML.element("section", .label("Settings")) { table(settings) } }
    }
  }

  @HTMLBuilder
  private func outcome(_ reload: Reload) -> HTML {
    HTML.element("h2") { "The configuration was read again" }
    HTML.element("dl") {
      keys("Changed", reload.changed)
      keys("Removed", reload.removed)
      keys("Needs a restart", reload.needsRestart)
      keys("Needs a migration", reload.needsMigration)
    }
    if reload == Reload() { HTML.element("p") { "Nothing has changed." } }
    for warning in reload.warnings { HTML.element("p", .style("problem")) { HTML.name(warning) } }
  }

  @HTMLBuilder
  private var verdict: HTML {
    HTML.element("h2") { "Check" }
    if !found.isGood {
      HTML.element("p", .other("role", "alert"), .style("problem")) {
        "The files have mistakes, so none of their changes is applied. The daemon works by what it read before."
      }
    } else if found.differs {
      HTML.element("p") { "The files are good, and say something else than the daemon works by." }
      HTML.element("dl") {
        keys("A reload changes", found.changed)
        keys("A reload removes", found.removed)
        keys("Needs a restart", found.needsRestart)
        keys("Needs a migration", found.needsMigration)
      }
    } else {
      HTML.element("p") { "The daemon works by what the files say." }
    }
    mistakes("Mistakes", found.mistakes)
    mistakes("Warnings", found.warnings)
    if mayOperate {
      HTML.element("form", .other("method", "post"), .action(.reload)) {
        HTML.element("button", .other("type", "submit")) { "Reload" }
      }
    }
  }

  @HTMLBuilder
  private var savedRecipes: HTML {
    HTML.element("h2") { "Saved recipes" }
    HTML.table(
      "Saved recipes",
      columns: ["Recipe", "Into", "State"].map(HTML.column) + (mayOperate ? [HTML.column("Remove")] : []),
      rows: saved.map { recipe in
        HTML.element("tr") {
          HTML.element("th", .other("scope", "row")) { HTML.name(recipe.name) }
          HTML.element("td") { recipe.fault == nil ? HTML.name("\(recipe.entity) of \(recipe.store)") : HTML("–") }
          HTML.element("td") {
            if let fault = recipe.fault {
              HTML.element("span", .style("problem")) {
                "not used: "
                HTML.name(fault)
              }
              " Save it again as it is to be, or remove it."
            } else {
              "used"
            }
          }
          if mayOperate {
            HTML.element("td") {
              HTML.element("a", .link(.removeRecipe(recipe.name)), .label("Remove recipe \(recipe.name)")) { "Remove…" }
            }
          }
        }
      })
  }

  private func keys(_ title: String, _ keys: [String]) -> HTML {
    HTML.fact(title, keys.isEmpty ? nil : HTML.name(keys.joined(separator: ", ")))
  }

  @HTMLBuilder
  private func mistakes(_ title: String, _ mistakes: [ConfigurationCheck.Mistake]) -> HTML {
    if !mistakes.isEmpty {
      HTML.table(
        title, columns: ["Place", "Key", "What"].map(HTML.column),
        rows: mistakes.map { mistake in
          HTML.element("tr") {
            HTML.element("td") {
              HTML.name(mistake.file ?? "")
              if let line = mistake.line { ":\(line)" }
              if let column = mistake.column { ":\(column)" }
            }
            HTML.element("td") { HTML.name(mistake.key ?? "") }
            HTML.element("td") { HTML.name(mistake.message) }
          }
        })
    }
  }

  @HTMLBuilder
  private func table(_ settings: ConfigurationSettings) -> HTML {
    HTML.element("h2") { "Settings" }
    HTML.element("p") {
      "What the files and variables say, of which later ones win: "
      HTML.name(settings.layers.joined(separator: ", "))
      ". Defaults aren't listed, and secrets aren't shown."
    }
    HTML.table(
      "Settings", columns: ["Key", "Value", "From"].map(HTML.column),
      rows: settings.settings.map { setting in
        HTML.element("tr") {
          HTML.element("th", .other("scope", "row")) { HTML.name(setting.key) }
          HTML.element("td") { HTML.element("code") { HTML.name(setting.value) } }
          HTML.element("td") {
            HTML.name(setting.file)
            if let line = setting.line { ":\(line)" }
          }
        }
      })
  }
}
