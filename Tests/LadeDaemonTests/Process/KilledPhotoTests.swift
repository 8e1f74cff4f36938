import ControlAPI
import CoreDataStores
import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// Photos with an image that is a file beside the store.
private enum Photos {
  static let model = ModelText(
    ModelText.entity(
      "Photo", unique: ["number"],
      [
        .attribute("number", "Integer 32", optional: true),
        .raw(
          "<attribute name=\"image\" attributeType=\"Binary\" optional=\"YES\" "
            + "allowsExternalBinaryDataStorage=\"YES\"/>"),
      ]))

  static func image(_ number: Int) -> Data { Data(repeating: UInt8(number), count: 120_000 + number) }

  static func lines(_ count: Int) -> Data {
    let lines = (1...count).map { #"{"number": \#($0), "image": "\#(image($0).base64EncodedString())"}"# }
    return Data(lines.joined(separator: "\n").utf8)
  }

  /// The sizes of the files that references lead to, and how many files there are.
  static func files(_ references: String, in folder: String) throws -> (sizes: [Int], count: Int) {
    let names = references.matches(of: #/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/#).map { String($0.0) }
    let sizes = try names.map { try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0)).count }
    return (sizes.sorted(), try FileManager.default.contentsOfDirectory(atPath: folder).count)
  }
}

@Suite("Work with large values that is killed wherever it writes", .startsDaemons, .serialized)
struct KilledPhotoTests {
  @Test("an import leaves the files of one run", arguments: ["insert", "upsert"])
  func importing(_ mode: String) async throws {
    var killed = try KilledImport(
      Photos.model, recipes: "  photos: { store: main, entity: Photo, mode: \(mode), batch_size: 4 }",
      query: "SELECT number, typeof(image), length(image) FROM Photo ORDER BY number",
      watch: "/main.sqlite:/.main.sqlite_SUPPORT:/rejects/"
    ) { killed, alone in
      for folder in [killed, alone] {
        let references = try await folder.sqlite("SELECT image FROM Photo ORDER BY number")
        let (sizes, count) = try Photos.files(references, in: folder.file(".main.sqlite_SUPPORT/_EXTERNAL_DATA"))
        #expect(sizes == (1...24).map { Photos.image($0).count } && count == 24)
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: folder.file(".main.sqlite_SUPPORT")) == ["_EXTERNAL_DATA"]
        )
      }
    }
    let drop = KilledImport.Drop(recipe: "photos", name: "photos.ndjson", data: Photos.lines(24))
    let job = try #require(try await killed.check([drop]).first)
    #expect(job.state == .completed && job.progress.inserted == 24, "\(job.reason ?? "")")
  }

  @Test("ladectl takes along what a Core Data store has in files beside it")
  func submitting() async throws {
    let model = ModelText(
      ModelText.entity(
        "Photo", unique: ["row"],
        [
          .attribute("row", "Integer 64", optional: true, column: "Z_PK"),
          .raw(
            "<attribute name=\"image\" attributeType=\"Binary\" optional=\"YES\" "
              + "allowsExternalBinaryDataStorage=\"YES\"/>"),
        ]))
    let folder = try DaemonFolder(model: model, recipes: "  app: { store: main, entity: \"*\", format: core-data }")
    var image = AttributeDefinition("image", .binaryData)
    image.allowsExternalBinaryDataStorage = true
    let coordinator = PersistentStoreCoordinator(
      model: try ManagedObjectModel(entities: [EntityDefinition("Photo", attributes: [image])]))
    let options = CoreDataStoreOptions(template: .versionHashes(["Photo": Data(repeating: 7, count: 32)]))
    let app = URL(fileURLWithPath: folder.file("App.sqlite"))
    try coordinator.addPersistentStore(.coreData(at: app, options: options))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for number in 1...3 { try context.insert("Photo").setValue(.data(Photos.image(number)), forKey: "image") }
    try context.save()
    try coordinator.close()

    let daemon = try await folder.start()
    let output = try await folder.ladectl("import", app.path, "--recipe", "app", "--wait")
    #expect(output.status == 0, "\(output.text) \(output.error)")
    let references = try await folder.sqlite("SELECT image FROM Photo")
    let (sizes, count) = try Photos.files(references, in: folder.file(".main.sqlite_SUPPORT/_EXTERNAL_DATA"))
    #expect(sizes == (1...3).map { Photos.image($0).count } && count == 3)
    #expect(try folder.names(in: "spool/tmp") == [])
    try await daemon.stop()
  }

  @Test("an export of a Core Data store appears with all of its files or not at all")
  func exporting() async throws {
    let folder = try DaemonFolder(model: Photos.model, recipes: "  photos: { store: main, entity: Photo }")
    let first = try await folder.start()
    _ = try await folder.imported(Photos.lines(6), as: "photos.ndjson", into: "photos")
    try await first.stop()
    var image = AttributeDefinition("image", .binaryData)
    image.allowsExternalBinaryDataStorage = true
    let model = try ManagedObjectModel(entities: [
      EntityDefinition("Photo", attributes: [AttributeDefinition("number", .integer32), image])
    ])
    let template = try CoreDataTemplate(model: model, hashes: ["Photo": Data(repeating: 7, count: 32)])
    let options = String(decoding: try JSONEncoder().encode(template), as: UTF8.self)
    let body =
      #"{"kind": "export", "store": "main", "options": {"format": "core-data", "file": "Out.sqlite", "template": "#
      + options + "}}"

    /// Whether the store is there; it is complete then.
    func isThere(_ what: String) async throws -> Bool {
      guard FileManager.default.fileExists(atPath: folder.file("state/exports/Out.sqlite")) else { return false }
      let references = try await folder.sqlite(
        "SELECT CAST(ZIMAGE AS TEXT) FROM ZPHOTO", in: "state/exports/Out.sqlite")
      let (sizes, _) = try Photos.files(references, in: folder.file("state/exports/.Out_SUPPORT/_EXTERNAL_DATA"))
      #expect(sizes == (1...6).map { Photos.image($0).count }, "\(what)")
      return true
    }

    let point = try KillPoint(in: folder, watch: "/exports/")
    try point.arm(nil)
    let counting = try folder.launch(point.environment)
    try await counting.ready()
    let counted = try await folder.http("POST", "/v1/jobs", body)
    #expect(counted.status == 201, "\(counted.text)")
    _ = try await folder.ended(try counted.decoded(as: Job.self).id)
    let changes = try point.changes()
    try await counting.stop()
    #expect(try await isThere("alone"))
    #expect(changes > 20)
    for number in stride(from: 1, through: changes, by: max(1, changes / 9)) {
      try FileManager.default.removeItem(atPath: folder.file("state/exports"))
      try point.arm(number)
      let killed = try folder.launch(point.environment)
      try await killed.ready()
      do {
        _ = try await folder.http("POST", "/v1/jobs", body)
      } catch  where error is ProgramFailure || error is POSIXError {
        // It was killed before it had answered.
      }
      #expect(try await killed.ended() == .signal(SIGKILL), "change \(number)")
      _ = try await isThere("change \(number)")
      try point.arm(nil)
      let again = try folder.launch(point.environment)
      try await again.ready()
      let last = try #require(try await folder.jobs().map(\.id).max())
      let ended = try await folder.ended(last)
      #expect(ended.state == .completed, "change \(number): \(ended.reason ?? "")")
      #expect(try await isThere("after change \(number)"))
      let left = try FileManager.default.contentsOfDirectory(
        atPath: folder.file("state/exports/.Out_SUPPORT/_EXTERNAL_DATA"))
      #expect(left.count == 6, "change \(number)")
      try await again.stop()
    }
  }
}
