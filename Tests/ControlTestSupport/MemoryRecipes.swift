package import ControlAPI
package import ControlServer
import LadeTypes
import Synchronization

/// Recipes in memory that clients have saved.
package final class MemoryRecipes: Sendable {
  private struct State {
    var drafts: [String: RecipeDraft] = [:]
    var faults: [String: String] = [:]
    var isSaving = true
    var columnRequests: [ModelDiffRequest] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var drafts: [String: RecipeDraft] { state.withLock { $0.drafts } }
  package var columnRequests: [ModelDiffRequest] { state.withLock { $0.columnRequests } }

  /// Whether the configuration lets recipes be saved.
  package var isSaving: Bool {
    get { state.withLock { $0.isSaving } }
    set { state.withLock { $0.isSaving = newValue } }
  }

  /// Why saved recipes aren't used.
  package var faults: [String: String] {
    get { state.withLock { $0.faults } }
    set { state.withLock { $0.faults = newValue } }
  }

  package func set(_ draft: RecipeDraft?, as name: String) { state.withLock { $0.drafts[name] = draft } }

  func note(_ request: ModelDiffRequest) { state.withLock { $0.columnRequests.append(request) } }
}

extension MemoryBackend {
  package func isOperator(_ peer: Peer) -> Bool { peer.uid != 4712 }

  package var savesRecipes: Bool { saved.isSaving }

  package func recipe(_ name: String) async throws -> RecipeDefinition {
    if let draft = saved.drafts[name] {
      var settings = draft.options
      settings["mode"] = draft.mode.map { .string($0.rawValue) }
      return RecipeDefinition(
        name: name, store: draft.store, entity: draft.entity, settings: settings, isSaved: true)
    }
    guard name == "people" else { throw ControlError.noSuchRecipe(name, known: recipes().map(\.name)) }
    return RecipeDefinition(
      name: "people", store: "main", entity: "Stop",
      settings: [
        "mode": .string("upsert"), "lane": .string("import"), "nulls": .list([.string("NA"), .string("a,b")]),
        "properties": .map([
          "name": .string("Full Name"),
          "height": .map(["column": .string("Höhe"), "decimal_separator": .string(",")]),
        ]),
      ])
  }

  package func save(_ draft: RecipeDraft, as name: String, by peer: Peer) async throws -> Reload {
    if name == "people" {
      throw ControlError.conflict(reason: "The files of the configuration have a recipe people.")
    }
    guard isOperator(peer) else { throw ControlError.forbidden(reason: "Only operators may save recipes.") }
    saved.set(draft, as: name)
    return Reload(changed: ["recipes.\(name)"])
  }

  package func removeRecipe(_ name: String, by peer: Peer) async throws -> Reload {
    guard isOperator(peer) else { throw ControlError.forbidden(reason: "Only operators may save recipes.") }
    guard saved.drafts[name] != nil else { throw ControlError.noSuchRecipe(name, known: recipes().map(\.name)) }
    saved.set(nil, as: name)
    return Reload(removed: ["recipes.\(name)"])
  }

  package func columns(_ request: ModelDiffRequest, by peer: Peer) async throws -> FileColumns {
    saved.note(request)
    if case .string(let delimiter)? = request.options["delimiter"], delimiter.count != 1 {
      throw ControlError.invalid(field: "options.delimiter", reason: "it must be one character")
    }
    if request.entity == "Nothing" { throw ControlError.noSuchEntity("Nothing", known: ["Stop", "Route"]) }
    return FileColumns(
      store: "main", entity: request.entity ?? "Stop", format: "csv",
      columns: [
        .init(name: "Name", values: ["<i>Ada</i>"]), .init(name: "Höhe", values: ["1,5"]),
        .init(name: "left over", values: []),
      ],
      properties: [
        .init(name: "name", type: "String", isOptional: false, suggestion: "Name"),
        .init(name: "height", type: "Double", defaultValue: "0"),
        .init(name: "number", type: "Integer 64", isOptional: false),
        .init(name: "route", entity: "Route"),
      ],
      constraints: [["name"]], notes: ["it is taken for UTF-8"])
  }
}
