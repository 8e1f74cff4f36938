import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport

@testable import Importing

/// Files to infer a model of, and a store with that model to import them into.
final class InferenceRoom {
  private let directory: ScratchDirectory

  init() throws { directory = try ScratchDirectory() }

  func file(_ name: String) -> URL { directory.file(name) }

  @discardableResult
  func write(_ text: String, as name: String) throws -> String {
    try write(Data(text.utf8), as: name)
  }

  @discardableResult
  func write(_ bytes: Data, as name: String) throws -> String {
    try FileManager.default.createDirectory(
      at: file(name).deletingLastPathComponent(), withIntermediateDirectories: true)
    try bytes.write(to: file(name))
    return file(name).path
  }

  /// The model of files with these contents.
  func infer(_ files: [(String, String)], keyLimit: Int = 1_000_000, hashLimit: Int = 24_000_000) throws
    -> InferredModel
  {
    var inference = ModelInference()
    (inference.keyLimit, inference.hashLimit) = (keyLimit, hashLimit)
    return try inference.run(try files.map { try write($0.1, as: $0.0) })
  }

  /// The columns of one file, as `name type`, and the notes on them.
  func columns(_ text: String, as name: String = "things.csv") throws -> [String] {
    try infer([(name, text)]).entities[0].columns.map { "\($0.name) \($0.type)\($0.dateFormat.map { " " + $0 } ?? "")" }
  }

  /// Writes the model, reads it, and opens a store with it.
  func store(_ model: InferredModel) throws -> PersistentStoreCoordinator {
    let path = file("Model.xcdatamodel").path
    try ModelFileWriter(model.definitions).write(to: path, overwrites: true)
    let read = try ImportModel.adding(to: ManagedObjectModel(contentsOf: URL(fileURLWithPath: path)))
    let coordinator = PersistentStoreCoordinator(model: read)
    try coordinator.addPersistentStore(.sqlite(at: file("store.sqlite")))
    return coordinator
  }

  /// Imports files in their order, each from the path or the archive that has it; the counts of each.
  func importAll(
    _ model: InferredModel, from source: String, isArchive: Bool, into coordinator: PersistentStoreCoordinator
  ) throws -> [String: ImportCounts] {
    let order = ImportOrder(coordinator.model.entities, files: model.order)
    var counts: [String: ImportCounts] = [:]
    for step in order.steps {
      let url = URL(fileURLWithPath: isArchive ? source : source + "/" + step.file)
      let request = ImportRequest(
        job: UUID().uuidString, source: url, name: url.lastPathComponent, entity: step.entity,
        options: ImportOptions(reader: ReaderOptions(member: isArchive ? step.file : nil)),
        rejects: file(step.file + ".rejects"))
      let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "import")
      let end = try Importer(coordinator: coordinator, request: request).run(
        in: context, shouldStop: { false }, report: { _ in })
      counts[step.entity] = end.counts
    }
    return counts
  }
}

extension InferredModel {
  func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

  /// Each reference as `Entity.relationship -> Entity.column`, in alphabetical order.
  var references: [String] {
    entities.flatMap { entity in
      entity.columns.compactMap { column in
        column.reference.map { "\(entity.name).\($0.relationship) -> \($0.entity).\($0.column ?? "-")" }
      }
    }.sorted()
  }

  var keys: [String: [String]] { Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.key) }) }
}
