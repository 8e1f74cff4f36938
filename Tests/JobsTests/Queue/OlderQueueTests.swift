import Foundation
import Importing
import Logging
import ManagedObjects
import SQLiteStore
import Testing

@testable import Jobs

/// A queue's file and the jobs in it outlive the version of the daemon that wrote them.
@Suite("A queue that an earlier version has left", .timeLimit(.minutes(20)))
struct OlderQueueTests {
  /// The options of a job of the first version, which knew neither what `skipped` counts nor most of today's options.
  static let options = """
    {"batchSize":500,"mode":"insert","rejectLimit":7,"reader":{"delimiter":";","header":false,"columns":["a","b"],\
    "maximumRecordBytes":16777216,"quote":null}}
    """

  @Test("is gone on with: its jobs stay as they are, and their options mean what they meant")
  func older() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("lade-jobs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(at: directory) } catch { Issue.record("\(error)") }
    }
    let file = directory.appendingPathComponent("queue.sqlite")
    try Self.leave(at: file)

    let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    var description = PersistentStoreDescription.sqlite(at: file, options: .init(durability: .everySave))
    description.refusesLossyMigration = true
    try coordinator.addPersistentStore(description)
    var catalogue = OperationCatalogue()
    catalogue.add("work") { job, environment in
      ScriptedOperation(job: job, environment: environment) { _ in .completed(JobProgress(records: 3, skipped: 2)) }
    }
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let queue = try JobQueue(
      coordinator: coordinator, lanes: [.init(name: "import", concurrency: 1)], operations: catalogue,
      environment: JobEnvironment(
        dataStores: [:], activeDirectory: directory, rejectsDirectory: directory, logger: quiet), logger: quiet)
    try await queue.start()
    let job = try await queue.whenEnded(1)
    #expect(job.state == .completed && job.progress.skipped == 2 && job.progress.records == 3)
    let options = try job.decodeOptions(as: ImportOptions.self)
    var expected = ImportOptions(
      mode: .insert, reader: ReaderOptions(delimiter: ";", quote: nil, header: false, columns: ["a", "b"]),
      batchSize: 500, rejectLimit: 7)
    #expect(options == expected)
    expected.rejectLimit = nil
    #expect(try JSONDecoder().decode(ImportOptions.self, from: JSONEncoder().encode(expected)) == expected)
    #expect(await queue.drain(timeout: .seconds(10)).isEmpty)
    try coordinator.close()
  }

  /// A queue of the model without what came later, with one job that waits for its turn.
  private static func leave(at file: URL) throws {
    var definitions = QueueModel.model.entities.map(\.definition).filter { $0.name != QueueModel.schedule }
    for index in definitions.indices { definitions[index].attributes.removeAll { $0.name == "skipped" } }
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: definitions))
    try coordinator.addPersistentStore(.sqlite(at: file))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let job = try context.insert(QueueModel.job)
    for (key, value) in [
      ("kind", Value.string("work")), ("lane", .string("import")), ("state", .string("available")),
      ("options", .string(options)), ("submittedBy", .string("anna")), ("submittedAt", .date(Date())),
      ("maxAttempts", .int(5)),
    ] {
      try job.setValue(value, forKey: key)
    }
    try context.save()
    try coordinator.close()
  }
}
