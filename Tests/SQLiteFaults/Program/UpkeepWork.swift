import Foundation
import Importing
import Jobs
import ManagedObjects

/// A job that looks after a store of people, some of whom were deleted, or copies it.
struct UpkeepWork: Work {
  let name: String
  private let options: String
  private let run: @Sendable (StoreSession, String) throws -> Void

  static let all: [any Work] = [
    UpkeepWork("backup", BackupOperation.self), UpkeepWork("restore", RestoreOperation.self, #"{"backup": "latest"}"#),
    UpkeepWork("check", CheckOperation.self), UpkeepWork("vacuum", VacuumOperation.self),
    UpkeepWork("vacuum-prepare-incremental", VacuumOperation.self, #"{"prepare_incremental": true}"#),
    UpkeepWork("reindex", ReindexOperation.self), UpkeepWork("optimise", OptimiseOperation.self),
    UpkeepWork("checkpoint", CheckpointOperation.self, #"{"patience": 0.1}"#),
    UpkeepWork("export", ExportOperation.self, #"{"format": "sqlite", "file": "people.sqlite"}"#),
  ]

  private init(_ name: String, _ operation: JobOperation.Type, _ options: String = "{}") {
    self.name = name
    self.options = options
    run = { store, options in _ = try store.run(operation, options: options) { $0.entity = "Person" } }
  }

  func prepare(_ folder: URL) throws {
    try Staff.prepare(folder, people: 300)
    let store = try StoreSession(folder, Staff.model())
    let context = ManagedObjectContext(.confinement, coordinator: store.coordinator)
    let people = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("code")]))
    for person in people.prefix(100) { context.delete(person) }
    try context.save()
    if name == "restore" {
      _ = try store.run(BackupOperation.self, id: 3, options: "{}")
      for person in people.suffix(50) { context.delete(person) }
      try context.save()
    }
    try store.close()
  }

  func begin(_ folder: URL) throws -> any WorkSession {
    Session(store: try StoreSession(folder, Staff.model()), options: options, run: run)
  }

  func contents(_ folder: URL) throws -> [String] {
    let contents = StoreContents(folder: folder)
    // The time is part of a backup's name.
    let names = try contents.files().map { $0.replacing(/[0-9]{4,}/, with: "#") }
    return try names + contents.stores().flatMap { try contents.everything(in: $0) }
  }

  private struct Session: WorkSession {
    let store: StoreSession
    let options: String
    let run: @Sendable (StoreSession, String) throws -> Void

    func work() throws -> String {
      try run(store, options)
      return "done"
    }

    func close() throws { try store.close() }
  }
}
