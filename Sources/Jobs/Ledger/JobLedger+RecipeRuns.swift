// The latest completed imports of the recipes that are watched. A run is written in the transaction that completes its job, so
// no kill loses it, and it stays when the job is removed. Other recipes have no rows and cost nothing.

import Foundation
import Importing
import ManagedObjects

extension JobLedger {
  /// How many runs of each recipe are kept.
  static let runsKept = 8

  /// Makes the rows of the store those of the recipes that are watched. One that is new begins with the completed jobs that the
  /// queue still has of it. On the ledger's queue, where the caller is.
  func beginRuns(of recipes: Set<String>) throws {
    try turn { turn in
      var known = Set<String>()
      for row in try turn.context.fetch(FetchRequest<RecipeRunRecord>(entityName: QueueModel.recipeRun)) {
        if recipes.contains(row.recipe) {
          known.insert(row.recipe)
        } else if daemon == nil {
          // Other daemons may watch it.
          turn.context.delete(row)
        }
      }
      for recipe in recipes.subtracting(known).sorted() { try turn.beginRuns(of: recipe) }
    }
  }

  /// The runs of all watched recipes, oldest first.
  func recipeRuns() async throws -> [RecipeRun] {
    try await reader.perform { context in
      let request = FetchRequest<RecipeRunRecord>(
        entityName: QueueModel.recipeRun, sortDescriptors: [FetchSortDescriptor(RecipeRunRecord.Key.endedAt.name)])
      return try context.fetch(request).map {
        RecipeRun(recipe: $0.recipe, endedAt: $0.endedAt, job: $0.job, records: $0.records)
      }
    }
  }
}

extension LedgerTurn {
  fileprivate func beginRuns(of recipe: String) throws {
    let filter = JobFilter(states: [.completed], kind: ImportOperation.kind, recipe: recipe, limit: JobLedger.runsKept)
    let jobs = try context.fetch(filter.request(context.persistentStoreCoordinator)).filter {
      !$0.isDryRun && !$0.isRetryOfRejects
    }
    if jobs.isEmpty { try insertRun(of: recipe, endedAt: now, job: nil, records: 0) }
    for job in jobs {
      try insertRun(
        of: recipe, endedAt: job.endedAt ?? now, job: job.objectID.number, records: job.progress.imported)
    }
  }

  /// Notes that an import has completed, if its recipe is watched.
  func noteRun(of job: JobRecord) throws {
    guard let recipe = job.recipe, isWatched(recipe), job.kind == ImportOperation.kind, !job.isDryRun,
      !job.isRetryOfRejects
    else { return }
    try insertRun(of: recipe, endedAt: now, job: job.objectID.number, records: job.progress.imported)
    let request = FetchRequest<RecipeRunRecord>(
      entityName: QueueModel.recipeRun, predicate: .equal(RecipeRunRecord.Key.recipe.name, .string(recipe)),
      sortDescriptors: [FetchSortDescriptor(RecipeRunRecord.Key.endedAt.name, ascending: false)])
    let runs = try context.fetch(request)
    // The row that says since when the recipe is watched has served.
    for row in runs.dropFirst(JobLedger.runsKept) + runs.prefix(JobLedger.runsKept).filter({ $0.job == nil }) {
      context.delete(row)
    }
  }

  private func insertRun(of recipe: String, endedAt: Date, job: Int64?, records: Int64) throws {
    let run = try context.insert(RecipeRunRecord.self)
    run.recipe = recipe
    run.endedAt = endedAt
    run.job = job
    run.records = records
  }
}

extension JobProgress {
  /// Records that were imported, changed or not.
  fileprivate var imported: Int64 { max(0, records - rejected - skipped) }
}

extension JobRecord {
  /// Whether it imports what another job has rejected: that is no new delivery.
  fileprivate var isRetryOfRejects: Bool { origin?.retriedJob != nil }

  /// Whether its import commits nothing. Options that can't be read are another version's, and no dry run's.
  fileprivate var isDryRun: Bool {
    do {
      return try snapshot().decodeOptions(as: ImportOptions.self).isDryRun
    } catch {
      return false
    }
  }
}
