import CoreDataStores
import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// The stores that keep large values in files, and the one in memory, which has none.
enum GalleryKind: String, CaseIterable, Codable, Sendable {
  case own
  case coreData
  case memory

  static let files = [own, coreData]
}

/// A store of photos with an image, which may be in a file, and a caption.
struct Gallery {
  let kind: GalleryKind
  let directory: ScratchDirectory
  let file: URL
  let coordinator: PersistentStoreCoordinator

  init(_ kind: GalleryKind, durability: SQLiteStoreOptions.Durability = .everySave) throws {
    self.kind = kind
    directory = try ScratchDirectory()
    file = directory.file("Gallery.sqlite")
    coordinator = try Self.opened(kind, file, durability)
  }

  static func model(isExternal: Bool = true, isUnique: Bool = false) throws -> ManagedObjectModel {
    var image = AttributeDefinition("image", .binaryData)
    image.allowsExternalBinaryDataStorage = isExternal
    return try ManagedObjectModel(entities: [
      EntityDefinition(
        "Photo", attributes: [AttributeDefinition("caption", .string), image],
        relationships: [RelationshipDefinition("album", to: "Album", inverse: "photos")],
        uniquenessConstraints: isUnique ? [["image"]] : [["caption"]]),
      EntityDefinition(
        "Album", attributes: [AttributeDefinition("title", .string)],
        relationships: [
          RelationshipDefinition("photos", to: "Photo", inverse: "album", isToMany: true, deleteRule: .cascade)
        ]),
    ])
  }

  static func opened(
    _ kind: GalleryKind, _ file: URL, _ durability: SQLiteStoreOptions.Durability = .everySave,
    model: ManagedObjectModel? = nil
  ) throws -> PersistentStoreCoordinator {
    let model = try model ?? Self.model()
    let coordinator = PersistentStoreCoordinator(model: model)
    switch kind {
    case .own:
      try coordinator.addPersistentStore(.sqlite(at: file, options: .init(durability: durability)))
    case .coreData:
      let hashes = model.entities.map { ($0.name, Data(repeating: UInt8($0.name.count), count: 32)) }
      let template = CoreDataStoreOptions.Template.versionHashes(Dictionary(uniqueKeysWithValues: hashes))
      try coordinator.addPersistentStore(
        .coreData(at: file, options: .init(template: template, durability: durability)))
    case .memory: try coordinator.addPersistentStore(.inMemory())
    }
    return coordinator
  }

  func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }

  /// More bytes than a row keeps.
  static func large(_ byte: UInt8, _ count: Int = ExternalFolder.threshold + 1) -> Data {
    Data(repeating: byte, count: count)
  }

  /// Saves a photo.
  @discardableResult
  func add(_ caption: String, _ image: Data?) throws -> ManagedObjectID {
    let context = context()
    let photo = try context.add(
      "Photo", ["caption": .string(caption), "image": image.map(Value.data) ?? .null])
    try context.save()
    return photo.objectID
  }

  /// Changes a photo and saves.
  func set(_ caption: String, _ image: Data?) throws {
    let context = context()
    let photo = try #require(try Self.photo(caption, in: context))
    try photo.setValue(image.map(Value.data) ?? .null, forKey: "image")
    try context.save()
  }

  static func photo(_ caption: String, in context: ManagedObjectContext) throws -> ManagedObject? {
    try context.every("Photo").first { $0.value(forKey: "caption") == .string(caption) }
  }

  static func image(_ caption: String, in context: ManagedObjectContext) throws -> Data? {
    guard case .data(let data)? = try photo(caption, in: context)?.value(forKey: "image") else { return nil }
    return data
  }

  func image(_ caption: String) throws -> Data? { try Self.image(caption, in: context()) }

  // MARK: Files

  static func folder(_ kind: GalleryKind, _ file: URL) -> ExternalFolder {
    kind == .coreData ? ExternalFolder(ofCoreDataStoreAt: file) : ExternalFolder(ofStoreAt: file)
  }

  var folder: ExternalFolder { Self.folder(kind, file) }

  /// The names of the files of values.
  var names: [String] { get throws { try folder.names().sorted() } }

  /// What stands in the images' columns: the first bytes, and how many there are.
  func columns() throws -> [String] {
    let (table, column) = kind == .coreData ? ("ZPHOTO", "ZIMAGE") : ("Photo", "image")
    return try DatabaseQueue(path: file.path).read { db in
      try DatabaseValue.fetchAll(db, sql: "SELECT \(column) FROM \(table) ORDER BY 1").map { value in
        switch value.storage {
        case .string(let text): text
        case .blob(let data) where data.count < 60: data.map { String(format: "%02x", $0) }.joined()
        case .blob(let data): "\(data.count) bytes"
        default: "\(value)"
        }
      }
    }
  }

  /// The files that belong to the store beside it.
  func support() throws -> [String] {
    let path = folder.supportPath
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}
