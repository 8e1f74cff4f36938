// Whether files come is a matter of time, so a recipe is judged when one of its imports completes, when the configuration
// changes, and when a time passes by which something was expected. A clock that is set is noticed within half a minute.
//
// A recipe that isn't fresh has a file in `freshness/` of the state directory, `people.late`, from the moment on at which the log
// says so until it is fresh again. A path unit of systemd's can wait for it.

import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Jobs
import Logging
import ServiceLifecycle
import Synchronization

/// Watches whether the files of recipes come as they are expected. Safe from any thread.
final class FreshnessMonitor: Service {
  /// How long it sleeps at most: the clock may be set.
  private static let longestPause: TimeInterval = 30
  private static let leastPause: TimeInterval = 0.05
  private static let markerQueue = DispatchQueue(label: "laded.freshness", qos: .utility)

  private let current: CurrentConfiguration
  private let queue: JobQueue
  private let markers: FreshnessMarkers
  private let logger: Logger
  private let found = Mutex<[RecipeFreshness]>([])
  private let (news, newsSource) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  init(current: CurrentConfiguration, queue: JobQueue, logger: Logger) {
    self.current = current
    self.queue = queue
    self.logger = logger
    markers = FreshnessMarkers(state: current.now.configuration.state)
  }

  /// How the recipes of which something is expected are, as of the last look; nil where nothing is expected of any.
  var freshness: [RecipeFreshness]? {
    let found = found.withLock { $0 }
    return found.isEmpty ? nil : found
  }

  /// The daemon's health, with a warning for each recipe that isn't fresh.
  func adding(to health: Health) -> Health {
    (freshness ?? []).reduce(health) { health, recipe in
      let check: Health.Check = recipe.state == .fresh ? .init(.pass) : .init(.warn, recipe.reason)
      return health.adding(check, of: "recipe \(recipe.recipe)")
    }
  }

  /// A job has ended.
  func note(_ job: Job) {
    if let recipe = job.recipe, current.now.configuration.watchedRecipes.contains(recipe) { look() }
  }

  /// Has all recipes judged again.
  func look() { newsSource.yield() }

  func run() async throws {
    await cancelWhenGracefulShutdown { [self] in
      var news = news.makeAsyncIterator()
      while !Task.isCancelled {
        let next = await judge()
        let alarm = Task { [newsSource] in
          let pause = min(max(next?.timeIntervalSinceNow ?? Self.longestPause, Self.leastPause), Self.longestPause)
          do { try await Task.sleep(for: .seconds(pause)) } catch { return }
          newsSource.yield()
        }
        _ = await news.next()
        alarm.cancel()
      }
    }
  }

  /// Judges all recipes, and announces what has changed.
  /// - Returns: when something may change next.
  private func judge() async -> Date? {
    let rules = current.now.configuration.recipes.compactMap { recipe in
      recipe.expectation.map { FreshnessRule(recipe: recipe.name, expectation: $0) }
    }
    if rules.isEmpty, freshness == nil { return nil }
    do {
      let runs = Dictionary(grouping: try await queue.recipeRuns(), by: \.recipe)
      let now = Date()
      let findings = rules.map { $0.finding(runs[$0.recipe] ?? [], at: now) }
      await announce(findings.map(\.freshness))
      return findings.compactMap(\.nextChange).min()
    } catch {
      logger.error("recipes: whether their files come can't be read: \(error)")
      return nil
    }
  }

  private func announce(_ new: [RecipeFreshness]) async {
    // Shown last, so that a client that sees a state finds its file, too.
    defer { found.withLock { $0 = new } }
    let before = Dictionary(uniqueKeysWithValues: (freshness ?? []).map { ($0.recipe, $0.state) })
    do {
      let names = new.filter { $0.state != .fresh }.map { "\($0.recipe).\($0.state.rawValue)" }
      try await Self.markerQueue.result { [markers] in try markers.put(names) }
    } catch {
      logger.error("recipes: the files that say which aren't fresh can't be written: \(error)")
    }
    for recipe in new where recipe.state != before[recipe.recipe] ?? .fresh {
      let metadata = recipe.message.metadata(["recipe": "\(recipe.recipe)"])
      logger.log(level: recipe.state == .fresh ? .notice : .warning, "recipe \(recipe.description)", metadata: metadata)
    }
  }

  /// When recipes were last imported, and how they are.
  var families: [MetricFamily] {
    var success = MetricFamily(
      .gauge, "lade_recipe_last_success_timestamp_seconds",
      "When the last import of a recipe completed of which something is expected, in seconds since 1970.")
    var records = MetricFamily(
      .gauge, "lade_recipe_last_records", "Records that the last import of such a recipe imported, changed or not.")
    var expected = MetricFamily(
      .gauge, "lade_recipe_expected_by_timestamp_seconds",
      "By when the next file of such a recipe is to have been imported, in seconds since 1970.")
    var states = MetricFamily(
      .gauge, "lade_recipe_freshness", "How such a recipe is: 1 for the state that it is in, 0 for the others.")
    for recipe in freshness ?? [] {
      if let time = recipe.lastSuccess { success.add(time.timeIntervalSince1970, ["recipe": recipe.recipe]) }
      if let number = recipe.lastRecords { records.add(number, ["recipe": recipe.recipe]) }
      if let time = recipe.expectedBy { expected.add(time.timeIntervalSince1970, ["recipe": recipe.recipe]) }
      for state in RecipeFreshness.State.allCases {
        states.add(recipe.state == state ? 1 : 0, ["recipe": recipe.recipe, "state": state.rawValue])
      }
    }
    return freshness == nil ? [] : [success, records, expected, states]
  }
}

extension RecipeFreshness {
  /// `people is late: nothing was imported by 2026-03-02T07:00:00Z`
  fileprivate var description: String { "\(recipe) is \(state.rawValue)" + (reason.map { ": " + $0 } ?? "") }

  fileprivate var message: JournalMessage {
    switch state {
    case .fresh: .recipeFresh
    case .anomalous: .recipeAnomalous
    case .late: .recipeLate
    case .stale: .recipeStale
    }
  }
}
