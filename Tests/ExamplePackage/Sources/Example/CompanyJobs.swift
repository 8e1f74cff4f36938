import Foundation
import Importing
import Jobs
import ManagedObjects
import SQLiteStore

/// A queue over a store of people: it runs the program's own operation, and one of the library's.
enum CompanyJobs {
  static func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

    let data = PersistentStoreCoordinator(model: try ImportModel.adding(to: CompanyModel.model))
    try data.addPersistentStore(.sqlite(at: folder.appendingPathComponent("company.sqlite")))
    let people = folder.appendingPathComponent("people.csv")
    try write(250, to: people)

    var operations = OperationCatalogue.standard
    operations.add("move", MoveOperation.self)
    // An operation that needs no class of its own.
    operations.add("count", options: [String: String].self) { operation, _ in
      let context = try operation.context()
      return .completed(JobProgress(records: Int64(try context.count(for: Person.fetchRequest()))))
    }
    let queue = try EmbeddedQueue(
      store: .sqlite(at: folder.appendingPathComponent("queue.sqlite"), options: .init(durability: .everySave)),
      dataStores: ["main": data], operations: operations, directory: folder)
    try await queue.start()

    var reading = FileImport.Options()
    reading.reading = ["delimiter": ";"]
    reading.properties["home"] = PropertyRule(column: "Place")
    let load = try await queue.submit(
      "import", store: "main", entity: "Person", source: people, options: reading, lane: "import", tags: ["example"])
    let move = try await queue.submit(
      "move", store: "main", options: MoveOperation.Options(to: "Ockham"), timeout: .seconds(600),
      after: [JobDependency(job: load.id)])
    let moved = try await queue.end(of: move.id)
    let count = try await queue.submit("count", store: "main")
    let counted = try await queue.end(of: count.id)
    try await expectRefusals(by: queue)
    let export = try await queue.submit(
      "export", store: "main", entity: "Person",
      options: ["file": "people.csv", "columns": "name,home", "where": "slots < 2", "sort": "slots"])
    let exported = try await queue.end(of: export.id)
    guard try await queue.stop().isEmpty, moved.state == .completed, moved.progress.updated == 249,
      counted.progress.records == 250, exported.state == .completed,
      try String(contentsOf: folder.appendingPathComponent("exports/people.csv"), encoding: .utf8)
        == "name,home\nPerson 0,Ockham\nPerson 1,Ockham\n"
    else {
      print("the jobs ended otherwise: \(moved.reason ?? ""); \(exported.reason ?? "")")
      exit(1)
    }
    print("\(moved.note ?? ""); \(exported.note ?? "")")
    try data.close()
    try FileManager.default.removeItem(at: folder)
  }

  /// A mistake is reported when a job is submitted.
  private static func expectRefusals(by queue: EmbeddedQueue) async throws {
    for options in [["too": "Ockham"], ["to": ""]] {
      do {
        _ = try await queue.submit("move", store: "main", options: options)
        print("\(options) were taken")
        exit(1)
      } catch let refusal as JobFailure {
        print(refusal)
      }
    }
  }

  private static func write(_ count: Int, to file: URL) throws {
    let lines = (0..<count).map { number in
      "Person \(number);\(number);\(number == 0 ? "Ockham" : number.isMultiple(of: 2) ? "London" : "")"
    }
    try Data((["name;slots;Place"] + lines).joined(separator: "\n").utf8).write(to: file)
  }
}
