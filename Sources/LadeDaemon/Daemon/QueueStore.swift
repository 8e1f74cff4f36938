import ControlAPI
import Foundation
import Jobs
import Logging
import ManagedObjects
import PostgresStore
import SQLiteStore

/// The open store of the queue.
struct QueueStore: Sendable {
  let coordinator: PersistentStoreCoordinator
  /// What names the queue in the data stores.
  let identifier: String
  /// This daemon's place among those that share the queue; nil for a file, which one daemon has.
  let membership: QueueMembership?
  /// The same store once more, where the lease is kept.
  private let leases: PersistentStoreCoordinator?
  /// And once more, for the files of jobs.
  let files: PersistentStoreCoordinator?

  /// Opens it, and creates what is missing. Blocks.
  /// - Throws: ``DaemonError/queue(path:reason:cause:)``.
  init(_ configuration: DaemonConfiguration, _ logger: Logger) throws {
    coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    guard let queue = configuration.queue else {
      (membership, leases, files) = (nil, nil, nil)
      do {
        let file = PersistentStoreDescription.sqlite(
          at: URL(fileURLWithPath: configuration.queueStore),
          options: SQLiteStoreOptions(
            durability: .everySave, pageSize: 4096, writerCache: 4 << 20, checkpointSize: 4 << 20,
            incrementalVacuum: true))
        identifier = try Self.add(file, to: coordinator, logger)
      } catch {
        let trouble = PathDiagnosis(configuration.queueStore, error)
        throw DaemonError.queue(path: configuration.queueStore, reason: trouble.reason, cause: trouble.cause)
      }
      return
    }
    let folder = try FolderIdentifier.read(in: configuration.state)
    do {
      let leases = PersistentStoreCoordinator(model: QueueModel.model)
      identifier = try Self.add(try Self.description(of: queue.place), to: coordinator, logger)
      _ = try Self.add(try Self.description(of: queue.place), to: leases, logger)
      self.leases = leases
      let files = PersistentStoreCoordinator(model: QueueModel.model)
      _ = try Self.add(try Self.description(of: queue.place), to: files, logger)
      self.files = files
      membership = try QueueMembership(
        in: coordinator, leases: leases, as: .init(host: queue.host, folder: folder, version: LadeVersion.current),
        timing: .init(lease: queue.lease / .seconds(1)), takesSharedEntries: queue.incoming != nil)
    } catch {
      throw DaemonError.queue(
        path: StorePlace.postgres(queue.place).shown, reason: "\(error)", cause: PathDiagnosis.cause(of: error))
    }
  }

  /// Does what depends on the name of this host.
  /// - Throws: ``DaemonError/host(_:cause:)`` where that is another's, or what `body` throws.
  static func underHostName(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as QueueMembership.HostTaken {
      let cause: DaemonError.Cause = if case .byFormerName = error { .inUse } else { .unusable }
      throw DaemonError.host("\(error)", cause: cause)
    }
  }

  private static func description(of place: PostgresPlace) throws -> PersistentStoreDescription {
    var options = PostgresStoreOptions(password: try place.password(), direct: place.direct)
    // Only new work is announced.
    options.announcesCommits = false
    return .postgres(place.connection, schema: place.schema, options: options)
  }

  private static func add(
    _ description: PersistentStoreDescription, to coordinator: PersistentStoreCoordinator, _ logger: Logger
  ) throws -> String {
    var description = description
    // A daemon of an earlier version doesn't drop what a later one has noted.
    description.refusesLossyMigration = true
    description.logBackgroundFailures(of: "the queue's store", to: logger)
    return try coordinator.addPersistentStore(description).identifier
  }

  /// The space that it takes; nil while a server doesn't tell. Blocks.
  func sizes(_ configuration: DaemonConfiguration) -> StoreSizes? {
    guard configuration.queue != nil else { return StoreSizes(ofSQLiteFile: configuration.queueStore) }
    do {
      return try coordinator.persistentStores.first.map { try coordinator.maintenance(of: $0).sizes() }
    } catch {
      return nil
    }
  }

  func close() throws {
    for coordinator in [coordinator, leases, files].compactMap({ $0 }) { try coordinator.close() }
  }
}
