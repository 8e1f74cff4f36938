import Foundation
import Jobs
import ManagedObjects
import SQLiteStore

/// A queue over a store of people: it runs the program's own operation, and one of the library's.
enum CompanyJobs {
  static func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

    let data = PersistentStoreCoordinator(model: try EmbeddedQueue.dataModel(CompanyModel.model))
    try data.addPersistentStore(.sqlite(at: folder.appendingPathComponent("company.sqlite")))
    try settle(250, in: data)

    var operations = OperationCatalogue.standard
    operations.add("move", MoveOperation.self)
    let queue = try EmbeddedQueue(
      store: .sqlite(at: folder.appendingPathComponent("queue.sqlite"), options: .init(durability: .everySave)),
      dataStores: ["main": data], operations: operations, directory: folder)
    try await queue.start()

    let move = try await queue.submit("move", store: "main", options: MoveOperation.Options(to: "Ockham"))
    let moved = try await queue.end(of: move.id)
    let export = try await queue.submit(
      "export", store: "main", entity: "Person",
      options: ["file": "people.csv", "columns": "name,home", "where": "slots < 2", "sort": "slots"])
    let exported = try await queue.end(of: export.id)
    guard try await queue.stop().isEmpty, moved.state == .completed, moved.progress.updated == 249,
      exported.state == .completed,
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

  private static func settle(_ count: Int, in data: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(.confinement, coordinator: data)
    for number in 0..<count {
      let person = try context.insert(Person.self)
      person.name = "Person \(number)"
      person.slots = Int16(number)
      person.home = number == 0 ? "Ockham" : number.isMultiple(of: 2) ? "London" : nil
    }
    try context.save()
  }
}
