import Foundation
import Testing

@testable import Jobs

@Suite("Runs of watched recipes", .timeLimit(.minutes(20)))
struct RecipeRunTests {
  /// An import that counts as many records as its source's name says, one of them rejected.
  private static let importing: ScriptedOperation.Script = { operation in
    var progress = JobProgress()
    progress.records = Int64(operation.job.source ?? "") ?? 0
    progress.rejected = 1
    return .completed(progress)
  }

  private static func file(_ records: Int, recipe: String = "people", isDryRun: Bool = false) -> JobSubmission {
    var submission = JobSubmission.of("import")
    submission.recipe = recipe
    submission.source = "\(records)"
    if isDryRun { submission.options = ["isDryRun": .bool(true)] }
    return submission
  }

  private static func queue(_ house: TestHouse, watched: Set<String>, _ retention: JobRetention = .init()) throws
    -> JobQueue
  {
    try house.queue(["import": importing], retention: retention, watchedRecipes: watched)
  }

  @Test(
    "have the time, the job and the records of each completed import, the latest eight", arguments: StoreKind.allCases)
  func runs(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try Self.queue(house, watched: ["people"])
    try await queue.start()
    let begun = try await queue.recipeRuns()
    #expect(begun == [RecipeRun(recipe: "people", endedAt: house.clock.now, job: nil)])
    var jobs: [Int64] = []
    for records in 1...10 {
      house.clock.advance(by: 1)
      jobs.append(try await queue.whenEnded(try await queue.submit(Self.file(records)).id).id)
    }
    _ = try await queue.whenEnded(try await queue.submit(Self.file(99, recipe: "other")).id)
    _ = try await queue.whenEnded(try await queue.submit(Self.file(99, isDryRun: true)).id)
    let runs = try await queue.recipeRuns()
    #expect(runs.map(\.job) == jobs.suffix(8))
    #expect(runs.map(\.records) == Array(2...9) && runs.allSatisfy { $0.recipe == "people" })
    #expect(runs.last?.endedAt == house.clock.now)
  }

  @Test("stay when their jobs are removed, and when the queue is opened again")
  func removed() async throws {
    let house = try TestHouse(.sqlite)
    let queue = try Self.queue(house, watched: ["people"])
    try await queue.start()
    let job = try await queue.whenEnded(try await queue.submit(Self.file(5)).id)
    _ = try await queue.remove(job.id, by: "ben")
    await queue.drain(timeout: .seconds(60))
    let reopened = try TestHouse(reopening: house)
    let second = try Self.queue(reopened, watched: ["people"])
    try await second.start()
    #expect(try await second.recipeRuns().map(\.job) == [job.id])
  }

  @Test("of a recipe that is watched from now on begin with the jobs that there are", arguments: StoreKind.allCases)
  func watchedLater(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try Self.queue(house, watched: [])
    try await queue.start()
    var jobs: [Int64] = []
    for records in 1...3 {
      jobs.append(try await queue.whenEnded(try await queue.submit(Self.file(records)).id).id)
    }
    #expect(try await queue.recipeRuns().isEmpty)
    func watch(_ recipes: Set<String>) async throws {
      try await queue.reconfigure(
        JobQueueConfiguration(
          lanes: [.init(name: "import", concurrency: 1)], schedules: [], retention: .init(), backoff: Backoff(),
          watchedRecipes: recipes))
    }
    try await watch(["people", "places"])
    let runs = try await queue.recipeRuns()
    #expect(Set(runs.filter { $0.recipe == "people" }.compactMap(\.job)) == Set(jobs))
    #expect(runs.filter { $0.recipe == "places" }.map(\.job) == [nil])
    try await watch(["places"])
    #expect(try await queue.recipeRuns().map(\.recipe) == ["places"])
  }
}
