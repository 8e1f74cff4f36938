import Foundation
import Jobs
import Logging
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("What a daemon returns that it doesn't use")
struct UpkeepTests {
  private final class Record: Sendable {
    let lines = Mutex<[String]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(record: self) } }

    private struct Handler: LogHandler {
      let record: Record
      var metadata: Logger.Metadata = [:]
      var logLevel = Logger.Level.info

      init(record: Record) { self.record = record }

      subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: Logging.LogEvent) {
        let line = "\(event.level) \(event.message): \(event.metadata?["error"]?.description ?? "")"
        record.lines.withLock { $0.append(line) }
      }
    }
  }

  private func upkeep(of coordinator: PersistentStoreCoordinator, _ logger: Logger) throws -> Upkeep {
    let folder = FileManager.default.temporaryDirectory
    let queue = try JobQueue(
      coordinator: coordinator, lanes: [.init(name: "import", concurrency: 1)], operations: OperationCatalogue(),
      environment: JobEnvironment(dataStores: [:], activeDirectory: folder, rejectsDirectory: folder, logger: logger),
      logger: logger)
    return Upkeep(
      queue: queue, stores: try DataStores(modelsOf: []), queueCoordinator: coordinator, logger: logger)
  }

  @Test("pages that removed jobs have left in the queue's file, but for some that new jobs will need")
  func pages() throws {
    let directory = try ScratchDirectory()
    let file = directory.file("queue.sqlite")
    let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(
      .sqlite(at: file, options: SQLiteStoreOptions(pageSize: 4096, incrementalVacuum: true)))
    let record = Record()
    let upkeep = try upkeep(of: coordinator, record.logger)
    let sqlite = try #require(Products.system("sqlite3"))
    let ballast = """
      CREATE TABLE ballast (x BLOB);
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1600)
      INSERT INTO ballast SELECT randomblob(10000) FROM n;
      DROP TABLE ballast
      """
    #expect(try ProgramOutput.now(sqlite, [file.path, ballast]).status == 0)
    let store = try #require(
      try coordinator.persistentStores.first.flatMap { try coordinator.maintenance(of: $0) as? SQLiteStore })
    let before = try store.freePages().bytes
    #expect(before > 12 << 20)
    upkeep.compactQueue()
    let after = try store.freePages().bytes
    #expect((1 << 20...4 << 20).contains(after), "\(after)")
    // What is left is no reason to do it again.
    upkeep.compactQueue()
    #expect(try store.freePages().bytes == after)
    #expect(record.lines.withLock { $0 } == [])
    withExtendedLifetime(directory) {}
  }

  @Test("a store without maintenance is named in the log once, with the reason")
  func unsupported() throws {
    let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(.inMemory())
    let record = Record()
    let upkeep = try upkeep(of: coordinator, record.logger)
    for _ in 0..<3 { upkeep.compactQueue() }
    let lines = record.lines.withLock { $0 }
    #expect(lines.count == 1, "\(lines)")
    #expect(lines.first?.hasPrefix("warning a store isn't maintained") == true, "\(lines)")
    #expect(lines.first?.hasSuffix("only stores in files do") == true, "\(lines)")
  }
}
