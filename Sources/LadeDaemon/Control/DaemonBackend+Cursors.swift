import ControlAPI
import ControlServer
import Dispatch
import Importing
import Jobs
import ManagedObjects

extension DaemonBackend {
  /// Cursors are read and moved one after the other.
  private static let cursorQueue = DispatchQueue(label: "control.cursors")

  func cursor(of recipe: String) async throws -> CursorStatus {
    let (source, coordinator) = try reading(recipe)
    let cursor = try await Self.cursorQueue.result {
      try RecipeCursor.read(
        recipe, in: ManagedObjectContext(.confinement, coordinator: coordinator, name: "cursor of \(recipe)"))
    }
    return CursorStatus(
      recipe: recipe, column: cursor?.column ?? source.cursor, value: cursor?.value.description,
      movedAt: cursor?.movedAt, job: cursor.flatMap { $0.job > 0 ? $0.job : nil })
  }

  func setCursor(of recipe: String, to change: CursorChange, by peer: Peer) async throws -> CursorStatus {
    try permissions.checkOperator(peer, to: "move cursors")
    let (source, coordinator) = try reading(recipe)
    let states = Set(JobState.allCases.filter { !$0.isEnded })
    let key = IncrementalSource.uniqueKey(of: recipe)
    if let job = try await queue.jobs(JobFilter(states: states, uniqueKey: key, limit: 1)).first {
      throw ControlError.conflict(
        reason: "Job \(job.id) reads by this cursor, and is \(job.state.rawValue).",
        hint: "'ladectl wait \(job.id)' waits for it, 'ladectl cancel \(job.id)' cancels it.")
    }
    do {
      try await Self.cursorQueue.result {
        let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "cursor of \(recipe)")
        let value = try change.value.map { text in
          let present = try RecipeCursor.read(recipe, in: context)
          return try source.cursorValue(text, as: present?.column == source.cursor ? present?.value : nil)
        }
        try RecipeCursor.set(recipe, source, to: value, in: context)
      }
    } catch let error as ExtractionError {
      throw ControlError.invalid(field: "value", reason: error.description)
    }
    return try await cursor(of: recipe)
  }

  private func reading(_ name: String) throws -> (IncrementalSource, PersistentStoreCoordinator) {
    guard let recipe = configuration.recipe(named: name) else {
      throw ControlError.noSuchRecipe(name, known: configuration.recipes.map(\.name))
    }
    guard let source = recipe.options.from, let store = stores[recipe.store] else {
      throw ControlError.invalid(
        field: "recipe", reason: "\(name) imports files, and has no cursor", hint: "A recipe with `from` has one.")
    }
    return (source, store.coordinator)
  }
}
