// A reload is all or nothing. Mistakes are found first, off every queue that work waits for: in the layers, the models,
// recipes and schedules. What needs a restart is set aside (`ReloadPlan`). Then the queue takes its part in one transaction,
// or refuses; after that nothing can fail: the current snapshot is replaced while the queue stands still, and the intake
// follows. Reloads run one after the other.

import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Jobs
import Logging
import Spool

/// Applies a changed configuration as a whole or not at all.
actor Reloader {
  private let loaded: LoadedConfiguration
  private let current: CurrentConfiguration
  private let queue: JobQueue
  private let intake: SpoolIntake
  private let level: LiveLogLevel
  private let status: StatusService
  private let freshness: FreshnessMonitor
  private let logger: Logger
  /// Models are read there.
  private let reading = DispatchQueue(label: "laded.configuration", qos: .utility)
  private var last: Task<Reload, any Error>?
  private var isStopping = false
  /// How the last reload ended; the start counts as one.
  private(set) var outcome = Outcome(isSuccess: true, lastSuccess: Date())

  /// How reloads have ended.
  struct Outcome: Sendable {
    /// Whether the last one was applied.
    var isSuccess: Bool
    /// When one was applied last.
    var lastSuccess: Date
  }

  /// - Parameter loaded: what the daemon was started with.
  init(
    _ loaded: LoadedConfiguration, _ current: CurrentConfiguration, queue: JobQueue, intake: SpoolIntake,
    level: LiveLogLevel, status: StatusService, freshness: FreshnessMonitor, logger: Logger
  ) {
    self.loaded = loaded
    self.current = current
    self.queue = queue
    self.intake = intake
    self.level = level
    self.status = status
    self.freshness = freshness
    self.logger = logger
  }

  /// Reads the configuration again and applies it. The result is logged and reported to the service manager.
  /// - Throws: `ControlError.badConfiguration` with all that is wrong, `unavailable` when the daemon stops, or what failed:
  ///   everything is as it was then.
  func reload() async throws -> Reload {
    let before = last
    // It continues even if the client that asked for it is gone.
    let next = Task {
      _ = await before?.result
      return try await tell()
    }
    last = next
    return try await next.value
  }

  /// Saves or removes a recipe of a client, and applies the configuration with it: all of it or nothing.
  /// - Throws: as ``reload()``; `ControlError.conflict` where the configuration's files have a recipe of the name;
  ///   `WriterError` where its file can't be written, ``UnrestoredRecipe`` where it can't be put back as it was.
  /// - Parameter who: as whom the log has it.
  func save(_ change: SavedRecipes.Change, by who: String) async throws -> Reload {
    let before = last
    let next = Task {
      _ = await before?.result
      return try await saving(change, by: who)
    }
    last = next
    return try await next.value
  }

  private func saving(_ change: SavedRecipes.Change, by who: String) async throws -> Reload {
    guard !isStopping else { throw ControlError.unavailable(reason: "The daemon is stopping.") }
    // The state folder is that of the start.
    let (path, operations) = (loaded.path, current.now.plan.operations)
    let saved = loaded.configuration.savedRecipes
    let former = try await reading.result {
      let read = try Self.read(path, operations, saved, with: change)
      if let fault = read.configuration.fault(ofRecipe: change.name) {
        throw ControlError.badConfiguration(fault.problems.map(\.description))
      }
      if change.text != nil, read.configuration.recipe(named: change.name)?.isSaved != true {
        throw ControlError.conflict(
          reason: "The files of the configuration say something about a recipe \(change.name).",
          hint: "Choose another name.")
      }
      return try saved.text(of: change.name)
    }
    do {
      // It may fail after the file has changed: where the folder can't be synced.
      try await reading.result { try saved.apply(change) }
      let reload = try await tell()
      logger.notice("recipe \(change.name): \(change.text == nil ? "removed" : "saved") by \(who)")
      return reload
    } catch {
      try await restore(former, of: change.name, in: saved, after: error)
      throw error
    }
  }

  /// Has a saved recipe say again what it did before a change that failed.
  private func restore(
    _ former: String?, of name: String, in saved: SavedRecipes, after cause: any Error
  ) async throws {
    do {
      try await reading.result {
        // A change that failed early has left the file alone: there may be no room to write it once more.
        guard try saved.text(of: name) != former else { return }
        try saved.apply(.init(name: name, text: former))
      }
    } catch {
      let failure = UnrestoredRecipe(name: name, cause: cause, restoring: error)
      logger.error("configuration: \(failure)")
      throw failure
    }
  }

  /// Refuses further reloads.
  func stop() { isStopping = true }

  private func tell() async throws -> Reload {
    guard !isStopping else { throw ControlError.unavailable(reason: "The daemon is stopping.") }
    status.reloading()
    // The intake finishes what it has in hand, which may be many.
    let extender = TimeoutExtender(logger: logger)
    defer { extender.end() }
    do {
      let reload = try await perform()
      outcome = Outcome(isSuccess: true, lastSuccess: Date())
      logger.notice("configuration: \(reload.words)", metadata: JournalMessage.configurationReloaded.metadata())
      await status.reloaded(nil)
      return reload
    } catch {
      outcome.isSuccess = false
      let mistakes = if case ControlError.badConfiguration(let mistakes) = error { mistakes } else { ["\(error)"] }
      for mistake in mistakes { logger.error("configuration: \(mistake)") }
      logger.error(
        "configuration: it was refused, and nothing has changed",
        metadata: JournalMessage.configurationRefused.metadata())
      await status.reloaded("the configuration was refused, and nothing has changed: \(mistakes.first ?? "")")
      throw error
    }
  }

  private func perform() async throws -> Reload {
    let old = current.now
    // The saved recipes are those of the start's state folder, as that is in force until a restart.
    let (path, started) = (loaded.path, loaded.configuration)
    let (next, new, advice) = try await reading.result(of: {
      let read = try Self.read(path, old.plan.operations, started.savedRecipes)
      let next = try ReloadPlan(read.configuration, over: old.plan, since: started)
      return (
        next, CurrentConfiguration.Snapshot(next.submissions), try read.warnings(old.plan.operations).map(\.description)
      )
    })
    let configuration = new.configuration
    let settings = try configuration.spoolSettings()
    do {
      try await queue.reconfigure(JobQueueConfiguration(configuration, next.schedules)) { [current, level] in
        current.put(new)
        level.level = configuration.logLevel
      }
    } catch let error as JobQueueError {
      throw ControlError.badConfiguration(error.description.split(separator: "\n").map { "\(path): \($0)" })
    }
    await intake.reconfigure(settings)
    freshness.look()
    for sentence in advice { logger.warning("configuration: \(sentence)") }
    var reload = next.reload
    reload.warnings = advice
    return reload
  }

  /// The configuration as it is now, if nothing is wrong with it.
  private static func read(
    _ path: String, _ operations: OperationCatalogue, _ saved: SavedRecipes,
    with change: SavedRecipes.Change? = nil
  ) throws -> LoadedConfiguration {
    let problems: [ConfigurationProblem]
    do {
      var read = try LoadedConfiguration(
        path: path, environment: ProcessInfo.processInfo.environment, saved: saved, with: change)
      problems = try read.problems(operations)
      if problems.isEmpty { return read }
    } catch let error as ConfigurationProblems {
      problems = error.problems
    }
    throw ControlError.badConfiguration(problems.map(\.description))
  }
}

/// The change of a saved recipe failed, and its file couldn't be put back as it was: it may say what was asked for,
/// while the daemon works by what it said before.
struct UnrestoredRecipe: Error, CustomStringConvertible {
  let name: String
  /// Why the change failed.
  let cause: any Error
  /// Why the file couldn't be put back.
  let restoring: any Error

  var description: String {
    let reason =
      switch cause {
      case ControlError.badConfiguration(let mistakes): mistakes.joined(separator: "; ")
      case let refusal as ControlError: refusal.problem.detail
      default: "\(cause)"
      }
    return "recipe \(name) couldn't be changed (\(reason)), nor its file put back as it was (\(restoring))"
  }
}

extension Reload {
  /// For the log: `applied recipes.people, keep; removed recipes.old; a restart is needed for socket`.
  fileprivate var words: String {
    let parts = [("applied", changed), ("removed", removed)].filter { !$0.1.isEmpty }
    var words = parts.isEmpty ? "read again, nothing to apply" : ""
    words += parts.map { "\($0) \($1.joined(separator: ", "))" }.joined(separator: "; ")
    if !needsRestart.isEmpty { words += "; a restart is needed for \(needsRestart.joined(separator: ", "))" }
    if !needsMigration.isEmpty {
      words += "; the model has changed of \(needsMigration.joined(separator: ", ")): migrate it, or restart"
    }
    return words
  }
}

extension DaemonConfiguration {
  /// The settings of the intake.
  func spoolSettings() throws -> SpoolSettings {
    var timing = intake.timing
    timing.rescanInterval = rescanInterval
    return try SpoolSettings(
      recipes: Set(recipes.map(\.name)),
      sets: Dictionary(recipes.compactMap { recipe in recipe.options.set.map { (recipe.name, $0) } }) { $1 },
      allowedFolders: allowedFolders, timing: timing, rules: intake.rules)
  }
}
