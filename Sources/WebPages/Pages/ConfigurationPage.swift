import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// What the configuration says, and what is wrong with it.
  func configuration(_ visit: Visit) async throws -> PageAnswer {
    try visit.query().refuseNames(otherThan: [])
    return .page(try await configurationPage(reload: nil).page)
  }

  /// Has the daemon read its configuration again.
  func reload(_ visit: Visit) async throws -> PageAnswer {
    log("reload the configuration", visit)
    let reload: Reload
    do {
      reload = try await backend.reload(by: visit.peer)
    } catch ControlError.badConfiguration {
      // The page says what is wrong, and that nothing of it was applied.
      return .page(try await configurationPage(reload: nil).page, .unprocessableContent)
    }
    return .page(try await configurationPage(reload: reload).page)
  }

  private func configurationPage(reload: Reload?) async throws -> ConfigurationPage {
    let found = try await backend.checkConfiguration()
    let settings: ConfigurationSettings?
    do {
      settings = try await backend.configurationSettings()
    } catch ControlError.badConfiguration {
      settings = nil
    }
    return ConfigurationPage(
      found: found, settings: settings, reload: reload, isReadOnly: check.settings.isReadOnly)
  }
}

/// The configuration as its files say it, with the mistakes in it and what a reload would change.
struct ConfigurationPage {
  let found: ConfigurationCheck
  /// Nil where the files can't be read.
  let settings: ConfigurationSettings?
  /// What a reload has just done.
  let reload: Reload?
  let isReadOnly: Bool

  var page: Page {
    Page("Configuration", .configuration) {
      if let reload { HTML.element("section", .other("role", "status"), .label("Reload")) { outcome(reload) } }
      HTML.element("section", .label("Check")) { verdict }
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
    if !isReadOnly {
      HTML.element("form", .other("method", "post"), .action(.reload)) {
        HTML.element("button", .other("type", "submit")) { "Reload" }
      }
    }
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
