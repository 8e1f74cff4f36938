import Foundation
import Glibc
import GRDB
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import Importing

/// Photos with an image of more than 100 KiB, in a store on the disk.
private struct PhotoImport {
  static let modes = [ImportMode.insert, .upsert, .replace, .synchronise]

  static func model() throws -> ManagedObjectModel {
    var image = AttributeDefinition("image", .binaryData)
    image.allowsExternalBinaryDataStorage = true
    return try ImportModel.adding(
      to: ManagedObjectModel(entities: [
        EntityDefinition(
          "Photo", attributes: [AttributeDefinition("number", .integer32), image], uniquenessConstraints: [["number"]])
      ]))
  }

  static func image(_ number: Int, _ version: Int) -> Data {
    Data([UInt8(number), UInt8(version)]) + Data(repeating: UInt8(version), count: 110_000)
  }

  /// A file with photos.
  static func write(_ numbers: ClosedRange<Int>, version: Int, to file: URL) throws {
    let lines = numbers.map { #"{"number": \#($0), "image": "\#(image($0, version).base64EncodedString())"}"# }
    try Data(lines.joined(separator: "\n").utf8).write(to: file)
  }

  /// Imports a file into a store in a folder. A run that was killed continues.
  @discardableResult
  static func run(_ name: String, _ mode: ImportMode, in folder: URL) throws -> FileImport.Result {
    let coordinator = PersistentStoreCoordinator(model: try model())
    try coordinator.addPersistentStore(
      .sqlite(at: folder.appendingPathComponent("store.sqlite"), options: .init(durability: .everySave)))
    var photos = FileImport(into: "Photo", of: coordinator)
    photos.name = name
    photos.options.mode = mode
    photos.options.batchSize = 3
    let result = try photos.run(folder.appendingPathComponent(name))
    try coordinator.close()
    return result
  }

  /// The images by their numbers, and how many files there are.
  static func content(_ folder: URL) throws -> (images: [Int: Data], files: Int, support: Int) {
    let coordinator = PersistentStoreCoordinator(model: try model())
    try coordinator.addPersistentStore(.sqlite(at: folder.appendingPathComponent("store.sqlite")))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    var images: [Int: Data] = [:]
    for photo in try context.fetch(FetchRequest<ManagedObject>(entityName: "Photo")) {
      guard case .int(let number)? = photo.value(forKey: "number"), case .data(let data)? = photo.value(forKey: "image")
      else { continue }
      images[Int(number)] = data
    }
    try coordinator.close()
    let support = folder.appendingPathComponent(".store.sqlite_SUPPORT")
    let files = try FileManager.default.contentsOfDirectory(atPath: support.path + "/_EXTERNAL_DATA").count
    return (images, files, try FileManager.default.contentsOfDirectory(atPath: support.path).count)
  }
}

@Suite("An import of large values that is killed")
struct ExternalImportTests {
  /// A folder with a store of photos 1 to 6, and a file of later ones for the mode.
  private static func folder(_ directory: ScratchDirectory, _ name: String, _ mode: ImportMode) throws -> URL {
    let folder = directory.file(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try PhotoImport.write(1...6, version: 1, to: folder.appendingPathComponent("first.ndjson"))
    try PhotoImport.run("first.ndjson", .insert, in: folder)
    try PhotoImport.write(
      mode == .insert ? 7...12 : 4...9, version: 2, to: folder.appendingPathComponent("next.ndjson"))
    return folder
  }

  @Test(
    "at each step of writing files, and continued, leaves the values and files of one run", arguments: PhotoImport.modes
  )
  fileprivate func everyStep(_ mode: ImportMode) async throws {
    let directory = try ScratchDirectory()
    let steps = Atomic(0)
    let counted = try Self.folder(directory, "counted", mode)
    try MigrationProbe.$onStep.withValue({ _ in steps.add(1, ordering: .relaxed) }) {
      _ = try PhotoImport.run("next.ndjson", mode, in: counted)
    }
    let count = steps.load(ordering: .relaxed)
    let expected = try PhotoImport.content(counted)
    #expect(expected.images.count == expected.files && expected.support == 1)
    let numbers: [Int] =
      switch mode {
      case .insert: Array(1...12)
      case .upsert: Array(1...9)
      default: Array(4...9)
      }
    #expect(expected.images.keys.sorted() == numbers)
    for (number, image) in expected.images {
      let isNew = mode == .insert ? number > 6 : number > 3
      #expect(image == PhotoImport.image(number, isNew ? 2 : 1), "\(number)")
    }
    #expect(count > 12)
    for point in stride(from: 1, through: count, by: 2) {
      let folder = try Self.folder(directory, "\(point)", mode)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = folder.path as String, point = point as Int, mode = mode.rawValue as String] in
        let left = Atomic(point)
        let mode = try #require(ImportMode(rawValue: mode))
        try MigrationProbe.$onStep.withValue({ _ in
          if left.subtract(1, ordering: .relaxed).newValue == 0 { kill(getpid(), SIGKILL) }
        }) {
          _ = try PhotoImport.run("next.ndjson", mode, in: URL(fileURLWithPath: path))
        }
      }
      let result = try PhotoImport.run("next.ndjson", mode, in: folder)
      #expect(result.isFinished && result.records == 6, "step \(point)")
      let found = try PhotoImport.content(folder)
      #expect(found.images == expected.images, "step \(point)")
      #expect(found.files == expected.files && found.support == 1, "step \(point)")
    }
  }
}
