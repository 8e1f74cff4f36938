import Foundation
import Jobs
import Logging
import ManagedObjects
import SQLiteStore
import Spool

/// Everything on the disk that a daemon works with, opened.
struct Opened: Sendable {
  /// On the state directory, and on the spool: files there are named after this queue's jobs.
  let locks: [InstanceLock]
  let stores: DataStores
  let queueCoordinator: PersistentStoreCoordinator
  /// What names the queue in the data stores.
  let queueIdentifier: String
  let directories: SpoolDirectories

  /// Opens and makes what is missing. Blocks.
  init(_ configuration: DaemonConfiguration, _ logger: Logger) throws {
    let socketFolder = URL(fileURLWithPath: configuration.socket).deletingLastPathComponent().path
    for path in [configuration.state, configuration.rejects, socketFolder]
    where !FileManager.default.fileExists(atPath: path) {
      do {
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
      } catch {
        let trouble = PathTrouble(path, SystemFailure(error))
        throw DaemonError.directory(path: path, reason: trouble.reason, cause: trouble.cause)
      }
    }
    let stateLock = try InstanceLock(directory: configuration.state)
    stores = try DataStores(configuration.stores, logger)
    do {
      queueCoordinator = PersistentStoreCoordinator(model: try QueueModel.make())
      var queue = PersistentStoreDescription.sqlite(
        at: URL(fileURLWithPath: configuration.queueStore),
        options: SQLiteStoreOptions(
          durability: .everySave, pageSize: 4096, writerCache: 4 << 20, checkpointSize: 4 << 20))
      // A daemon of an earlier version doesn't drop what a later one has noted.
      queue.refusesLossyMigration = true
      queueIdentifier = try queueCoordinator.addPersistentStore(queue).identifier
    } catch {
      let trouble = PathTrouble(configuration.queueStore, error)
      throw DaemonError.queue(path: configuration.queueStore, reason: trouble.reason, cause: trouble.cause)
    }
    do {
      // Whatever folders are allowed, these are not to be imported.
      let own = [configuration.state, configuration.queueStore] + configuration.stores.map(\.path)
      directories = try SpoolDirectories(path: configuration.spool, protected: own)
    } catch {
      let place = if case SpoolError.system(_, let path, _) = error { path } else { configuration.spool }
      let trouble = PathTrouble(place, error)
      throw DaemonError.spool(path: configuration.spool, reason: trouble.reason, cause: trouble.cause)
    }
    locks = [stateLock, try InstanceLock(directory: configuration.spool)]
  }

  /// Closes the stores, so that each is one file again. Nobody uses them any more. Blocks.
  func close() throws {
    for coordinator in stores.all.map(\.coordinator) + [queueCoordinator] { try coordinator.close() }
  }
}
