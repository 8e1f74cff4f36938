import CLinux
import Dispatch
import Foundation
import Importing
import Jobs
import Logging
import ManagedObjects
import PostgresStore
import SQLiteStore
import ServiceLifecycle
import Synchronization

/// Returns what the daemon doesn't use any more: memory after jobs, and free pages of the queue's file after jobs were removed.
/// It also has the queue look whether the clock was set.
///
/// glibc keeps what is freed for its heap. Each job and each reader of a file has worked in a thread of its own, and threads have
/// heaps of their own (arenas), so that a daemon after some hundred jobs would hold what all of them had needed at most.
final class Upkeep: Service {
  /// As many heaps as threads that allocate much at the same time, for a job: one reads, one writes.
  private static let heaps: Int32 = 2
  /// The batches of an import are larger, and so return at once when they are freed.
  private static let mappedFrom: Int32 = 1 << 20
  private static let (interval, longInterval) = (Duration.seconds(5), Duration.seconds(30))
  /// Rounds after which it is done although jobs run, and rounds without jobs after which caches are let go.
  private static let (busyRounds, idleRounds) = (6, 12)
  /// Free bytes of the queue's file that are left for new jobs, at least and as a share of the file.
  private static let (freeKept, shareKept): (Int64, Int64) = (4 << 20, 4)
  /// Pages that each transaction returns, so that submissions don't wait.
  private static let pagesAtOnce = 256

  /// How often former values that aren't kept any more are looked for.
  private static let retentionInterval = Duration.seconds(600)

  private let queue: JobQueue
  private let current: CurrentConfiguration?
  private let stores: DataStores
  private let queueCoordinator: PersistentStoreCoordinator
  private let logger: Logger
  private let work = DispatchQueue(label: "laded.upkeep", qos: .utility)
  /// Whether a job has ended since memory was returned.
  private let hasWorked = Atomic<Bool>(false)
  /// The stores without maintenance that the log has named.
  private let named = Mutex<Set<String>>([])

  /// - Parameter current: says how long former values are kept; nil for as long as the store.
  init(
    queue: JobQueue, stores: DataStores, queueCoordinator: PersistentStoreCoordinator,
    current: CurrentConfiguration? = nil, logger: Logger
  ) {
    self.queue = queue
    self.current = current
    self.stores = stores
    self.queueCoordinator = queueCoordinator
    self.logger = logger
  }

  /// To be called before the process has threads.
  static func limitHeaps() { lade_limit_heaps(heaps, mappedFrom) }

  /// A job has ended.
  func noteWork() { hasWorked.store(true, ordering: .relaxed) }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var (busy, idle) = (0, 0)
      var nextRetention = ContinuousClock.now
      while (try? await Task.sleep(for: idle > Self.idleRounds ? Self.longInterval : Self.interval)) != nil {
        self.queue.checkClock()
        if ContinuousClock.now >= nextRetention {
          nextRetention = .now + Self.retentionInterval
          _ = try? await self.work.result { self.removeBeforeImages(now: Date()) }
        }
        let isRunning = (try? await self.queue.counts()[.running]) ?? 1 > 0
        (busy, idle) = isRunning ? (busy + 1, 0) : (0, idle + 1)
        let isDue = isRunning ? busy % Self.busyRounds == 0 : self.hasWorked.load(ordering: .relaxed)
        let isQuiet = idle == Self.idleRounds
        guard isDue || isQuiet else { continue }
        self.hasWorked.store(false, ordering: .relaxed)
        _ = try? await self.work.result { self.tidy(isQuiet: isQuiet) }
      }
    }
  }

  /// Blocks.
  private func tidy(isQuiet: Bool) {
    compactQueue()
    if isQuiet { for store in allStores { store.releaseMemory() } }
    lade_trim_heaps()
  }

  /// Removes the former values that aren't kept any more. Blocks.
  func removeBeforeImages(now: Date) {
    guard let keep = current?.now.configuration.keep else { return }
    let kept = (keep.undo ?? .zero) / .seconds(1)
    let time = now.addingTimeInterval(-kept)
    for store in stores.all {
      do {
        let count = try BeforeImageRetention.prune(before: time, in: store.coordinator)
        guard count > 0 else { continue }
        logger.debug(
          "former values that aren't kept any more were removed",
          metadata: ["store": "\(store.configuration.name)", "objects": "\(count)"])
      } catch {
        logger.warning(
          "former values that aren't kept any more couldn't be removed",
          metadata: ["store": "\(store.configuration.name)", "error": "\(error)"])
      }
    }
  }

  private var allStores: [SQLiteStore] {
    (stores.all.map(\.coordinator) + [queueCoordinator]).flatMap(stores(of:))
  }

  private func stores(of coordinator: PersistentStoreCoordinator) -> [SQLiteStore] {
    // PostgreSQL maintains its tables by itself.
    coordinator.persistentStores.filter { $0.type != .postgres }.compactMap { store in
      do {
        if let store = try coordinator.maintenance(of: store) as? SQLiteStore { return store }
        name(store, because: "it isn't an SQLite store")
      } catch {
        name(store, because: "\(error)")
      }
      return nil
    }
  }

  /// Logs once that a store keeps the memory and pages that it doesn't use.
  private func name(_ store: PersistentStore, because reason: String) {
    guard named.withLock({ $0.insert(store.identifier).inserted }) else { return }
    logger.warning(
      "a store isn't maintained, and keeps memory and pages that it doesn't use",
      metadata: ["store": "\(store.description)", "error": "\(reason)"])
  }

  // MARK: The queue's file

  /// Returns pages that removed jobs have left, but for some that new jobs will need.
  func compactQueue() {
    for store in stores(of: queueCoordinator) {
      do {
        let (free, isIncremental) = try store.freePages()
        let kept = max(Self.freeKept, try store.sizes().content / Self.shareKept)
        guard isIncremental, free > kept else { continue }
        let pages = Int((free - kept / 2) / Self.queuePageSize)
        let result = try store.compact(
          .incremental(blocks: pages, atOnce: Self.pagesAtOnce), MaintenanceWatch())
        logger.debug(
          "the queue's file was compacted",
          metadata: ["before": "\(result.bytesBefore)", "after": "\(result.bytesAfter)"])
      } catch {
        logger.warning("the queue's file couldn't be compacted", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Of a queue's file, see ``OpenStores``.
  private static let queuePageSize: Int64 = 4096
}
