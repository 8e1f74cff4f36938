import CoreDataStores
import Foundation
import GRDB
import Glibc
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Large values in files beside the store")
struct ExternalDataTests {
  private let large = Gallery.large(7)
  private let other = Gallery.large(9, 300_000)

  @Test("a value of more than 100 KiB is a file, and a row has its name; a smaller one is in the row")
  func placement() throws {
    let gallery = try Gallery(.own)
    let least = Data(repeating: 1, count: 100 * 1024)
    try gallery.add("a", large)
    try gallery.add("b", Data([1, 2]))
    try gallery.add("c", nil)
    try gallery.add("d", least)
    let name = try #require(gallery.names.first)
    #expect(try gallery.names.count == 1)
    #expect(try gallery.columns() == ["NULL", "_EXTERNAL_DATA/\(name)", "102400 bytes", "0102"])
    #expect(
      gallery.folder.path == gallery.file.deletingLastPathComponent().path + "/.Gallery.sqlite_SUPPORT/_EXTERNAL_DATA")
    #expect(try Data(contentsOf: URL(fileURLWithPath: gallery.folder.path + "/" + name)) == large)
    try gallery.coordinator.close()
    #expect(try gallery.support() == ["_EXTERNAL_DATA"], "a closed store leaves no journal")
  }

  @Test("in a Core Data store values have Core Data's forms, and files are in its folder")
  func coreDataForms() throws {
    let gallery = try Gallery(.coreData)
    try gallery.add("a", large)
    try gallery.add("b", Data([1, 2]))
    let name = try #require(gallery.names.first)
    let reference = "02" + name.utf8.map { String(format: "%02x", $0) }.joined() + "00"
    #expect(try gallery.columns() == ["010102", reference])
    #expect(gallery.folder.supportPath == gallery.file.deletingLastPathComponent().path + "/.Gallery_SUPPORT")
  }

  @Test("values come back from a store that was opened again", arguments: GalleryKind.files)
  func reading(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    try gallery.add("b", Data([1, 2]))
    try gallery.add("empty", Data())
    try gallery.coordinator.close()
    let again = try Gallery.opened(kind, gallery.file)
    let context = ManagedObjectContext(.confinement, coordinator: again)
    #expect(try Gallery.image("a", in: context) == large)
    #expect(try Gallery.image("b", in: context) == Data([1, 2]))
    #expect(try Gallery.image("empty", in: context) == Data())
    try again.close()
    var description = kind == .own ? PersistentStoreDescription(url: gallery.file) : .coreData(at: gallery.file)
    description.isReadOnly = true
    let reader = PersistentStoreCoordinator(model: try Gallery.model())
    try reader.addPersistentStore(description)
    #expect(try Gallery.image("a", in: ManagedObjectContext(.confinement, coordinator: reader)) == large)
    try reader.close()
  }

  @Test("a replaced, cleared or deleted value's file is removed by the save", arguments: GalleryKind.allCases)
  func removal(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    for caption in ["a", "b", "c"] { try gallery.add(caption, large) }
    let before = try gallery.names
    #expect(before.count == (kind == .memory ? 0 : 3))
    try gallery.set("a", other)
    #expect(try gallery.names.count == before.count)
    #expect(try Set(gallery.names).intersection(before).count == (kind == .memory ? 0 : 2))
    try gallery.set("b", nil)
    let context = gallery.context()
    context.delete(try #require(try Gallery.photo("c", in: context)))
    #expect(try gallery.names.count == (kind == .memory ? 0 : 2), "nothing is removed before the save")
    try context.save()
    #expect(try gallery.names.count == (kind == .memory ? 0 : 1))
    #expect(try gallery.image("a") == other && gallery.image("b") == nil)
    try gallery.set("a", Data([1]))
    #expect(try gallery.names == [])
  }

  @Test("a save of other attributes leaves the file as it is", arguments: GalleryKind.files)
  func untouched(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    let names = try gallery.names
    let context = gallery.context()
    let photo = try #require(try Gallery.photo("a", in: context))
    try photo.setValue(.string("new"), forKey: "caption")
    try photo.setValue(.data(large), forKey: "image")
    try context.save()
    #expect(try gallery.names == names && gallery.image("new") == large)
  }

  @Test("a save that fails, a rollback and an undone transaction leave no file", arguments: GalleryKind.files)
  func failing(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    let names = try gallery.names
    // The caption is unique.
    #expect(throws: ManagedObjectError.self) { try gallery.add("a", other) }
    #expect(try gallery.names == names)
    let context = gallery.context()
    try #require(try Gallery.photo("a", in: context)).setValue(.data(other), forKey: "image")
    context.rollback()
    try context.save()
    let store = try #require(gallery.coordinator.persistentStores.first)
    try gallery.coordinator.inOneTransaction(of: store) {
      try gallery.set("a", other)
      try gallery.add("b", other)
      #expect(try gallery.names.count == 3)
      return ((), .rollBack)
    }
    #expect(try gallery.names == names && gallery.image("a") == large)
    try gallery.coordinator.inOneTransaction(of: store) {
      try gallery.set("a", other)
      try gallery.set("a", large)
      return ((), .commit)
    }
    #expect(try gallery.names.count == 1 && gallery.image("a") == large)
  }

  @Test("a lost update of a value is noticed", arguments: GalleryKind.allCases)
  func conflict(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    let context = gallery.context()
    let photo = try #require(try Gallery.photo("a", in: context))
    try gallery.set("a", other)
    try photo.setValue(.data(Gallery.large(3)), forKey: "image")
    #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(try gallery.image("a") == other)
    #expect(try gallery.names.count == (kind == .memory ? 0 : 1))
  }

  @Test("a child context's values become files when its parent saves", arguments: GalleryKind.files)
  func child(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    let parent = gallery.context()
    let child = ManagedObjectContext(.confinement, parent: parent)
    try child.add("Photo", ["caption": .string("a"), "image": .data(large)])
    try child.save()
    #expect(try gallery.names == [])
    try parent.save()
    #expect(try gallery.names.count == 1 && gallery.image("a") == large)
  }

  @Test("a reader of a former state finds its value, whose file goes afterwards", arguments: GalleryKind.files)
  func formerState(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    let reader = gallery.context()
    try reader.setQueryGenerationFrom(.current)
    // The first request pins it.
    #expect(try reader.count(for: FetchRequest<ManagedObject>(entityName: "Photo")) == 1)
    let writer = try Gallery.opened(kind, gallery.file)
    let context = ManagedObjectContext(.confinement, coordinator: writer)
    try #require(try Gallery.photo("a", in: context)).setValue(.data(other), forKey: "image")
    try context.save()
    #expect(try gallery.names.count == 2)
    #expect(try Gallery.image("a", in: reader) == large)
    try reader.setQueryGenerationFrom(nil)
    try context.add("Photo", ["caption": .string("b")])
    try context.save()
    #expect(try gallery.names.count == 1 && gallery.image("a") == other)
    try writer.close()
  }

  @Test("a value that was read stays when its file is removed", arguments: GalleryKind.files)
  func readValue(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    let image = try #require(try gallery.image("a"))
    try gallery.set("a", nil)
    #expect(try gallery.names == [] && image == large)
  }

  @Test("batch requests write, replace and remove files", arguments: GalleryKind.files)
  func batches(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    let context = gallery.context()
    try context.execute(
      BatchInsertRequest(
        entityName: "Photo",
        objects: ["a", "b"].map { ["caption": .string($0), "image": .data(large)] }))
    #expect(try gallery.names.count == 2 && gallery.image("b") == large)
    var update = BatchUpdateRequest(entityName: "Photo")
    update.propertiesToUpdate = ["image": .constant(.data(other))]
    try context.execute(update)
    #expect(try gallery.names.count == 2 && gallery.image("a") == other)
    try context.execute(
      BatchDeleteRequest(
        fetchRequest: FetchRequest<ManagedObject>(
          entityName: "Photo", predicate: try FetchPredicate(format: "caption == 'a'"))))
    #expect(try gallery.names.count == 1 && gallery.image("b") == other)
  }

  @Test("many rows at once, with a unique value that is taken among them", arguments: GalleryKind.files)
  func manyRows(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    let context = gallery.context()
    for number in 0..<120 {
      try context.add(
        "Photo", ["caption": .string("\(number)"), "image": .data(number % 10 == 0 ? large : Data([UInt8(number)]))])
    }
    try context.save()
    #expect(try gallery.names.count == 12)
    try context.add("Photo", ["caption": .string("5"), "image": .data(other)])
    for number in 200..<320 { try context.add("Photo", ["caption": .string("\(number)"), "image": .data(large)]) }
    #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(try gallery.names.count == 12)
  }

  @Test("predicates compare the values, wherever they are", arguments: GalleryKind.allCases)
  func predicates(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    try gallery.add("b", Data([1, 2]))
    try gallery.add("c", nil)
    let context = gallery.context()
    func captions(_ predicate: FetchPredicate) throws -> [String] {
      let request = FetchRequest<ManagedObject>(
        entityName: "Photo", predicate: predicate, sortDescriptors: [FetchSortDescriptor("caption")])
      return try context.fetch(request).compactMap { $0.value(forKey: "caption")?.plainText }
    }
    #expect(try captions(.init(format: "image == %@", Value.data(large))) == ["a"])
    #expect(try captions(.init(format: "image == %@", Value.data(Data([1, 2])))) == ["b"])
    #expect(try captions(.init(format: "image != %@", Value.data(Data([1, 2])))) == ["a", "c"])
    #expect(try captions(.init(format: "image == nil")) == ["c"])
    #expect(try captions(.init(format: "image != nil")) == ["a", "b"])
    var request = FetchRequest<ManagedObject>(
      entityName: "Photo", sortDescriptors: [FetchSortDescriptor("caption")])
    request.propertiesToFetch = ["image"]
    #expect(
      try context.fetchDictionaries(request).map { $0.value(forKey: "image") } == [
        .data(large), .data(Data([1, 2])), .null,
      ])
    if kind == .memory { return }
    // Whether there is a value doesn't depend on the file.
    try gallery.folder.remove(#require(gallery.names.first))
    let filled = FetchRequest<ManagedObject>(entityName: "Photo", predicate: try .init(format: "image != nil"))
    #expect(try context.count(for: filled) == 2)
    #expect(throws: ManagedObjectError.self) { try captions(.init(format: "image == %@", Value.data(large))) }
  }

  @Test("values of a uniqueness constraint are in the row, where SQL compares them", arguments: GalleryKind.files)
  func unique(_ kind: GalleryKind) throws {
    let directory = try ScratchDirectory()
    let file = directory.file("a.sqlite")
    let coordinator = try Gallery.opened(kind, file, model: Gallery.model(isUnique: true))
    func add() throws {
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      try context.add("Photo", ["image": .data(large)])
      try context.save()
    }
    try add()
    #expect(throws: ManagedObjectError.self) { try add() }
    #expect(try Gallery.folder(kind, file).names() == [])
    try coordinator.close()
  }

  // MARK: What isn't as it should be

  /// The failure of reading the photo “a”.
  private func failure(_ gallery: Gallery) throws -> StoreFailure {
    let error = #expect(throws: ManagedObjectError.self) { try gallery.image("a") }
    guard case .store(let failure)? = error else { throw MissingFailure() }
    return failure
  }

  private struct MissingFailure: Error {}

  @Test(
    "a missing file, a link and something else in its place are errors that name them", arguments: GalleryKind.files)
  func missing(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    let id = try gallery.add("a", large)
    let name = try #require(gallery.names.first)
    let path = gallery.folder.path + "/" + name
    try gallery.folder.remove(name)
    let missing = try failure(gallery)
    #expect(missing.kind == .corrupt && missing.path == gallery.file.path)
    #expect(missing.message.contains("Photo.image of the row \(id.rowNumber)") && missing.message.contains(name))
    try Data([1]).write(to: gallery.directory.file("secret"))
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: gallery.directory.file("secret").path)
    #expect(try failure(gallery).message.contains("is a link"))
    try FileManager.default.removeItem(atPath: path)
    try #require(mkfifo(path, 0o600) == 0)
    #expect(try failure(gallery).message.contains("no regular file"))
    // Other attributes can be read, and the value replaced.
    var request = FetchRequest<ManagedObject>(entityName: "Photo")
    request.propertiesToFetch = ["caption"]
    #expect(try gallery.context().fetchDictionaries(request).count == 1)
    try FileManager.default.removeItem(atPath: path)
    try gallery.clear()
    #expect(try gallery.image("a") == nil)
  }

  @Test(
    "a reference that leads elsewhere is refused",
    arguments: ["../../../etc/passwd", "", "a/b", "00000000-0000-0000-0000-00000000000/"])
  func hostile(_ name: String) throws {
    for kind in GalleryKind.files {
      let gallery = try Gallery(kind)
      try gallery.add("a", large)
      let value =
        kind == .own
        ? "_EXTERNAL_DATA/\(name)".databaseValue : (Data([2]) + Data(name.utf8) + Data([0])).databaseValue
      try DatabaseQueue(path: gallery.file.path).write { db in
        try db.execute(
          sql: kind == .own ? "UPDATE Photo SET image = ?" : "UPDATE ZPHOTO SET ZIMAGE = ?", arguments: [value])
      }
      let found = try failure(gallery)
      #expect(found.kind == .corrupt && found.message.contains("isn't one"))
    }
  }

  @Test("a folder that is a symbolic link is neither read nor written", arguments: GalleryKind.files)
  func linkedFolder(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    let elsewhere = gallery.directory.file("elsewhere").path
    try FileManager.default.moveItem(atPath: gallery.folder.path, toPath: elsewhere)
    try FileManager.default.createSymbolicLink(atPath: gallery.folder.path, withDestinationPath: elsewhere)
    #expect(throws: ManagedObjectError.self) { try gallery.image("a") }
    #expect(throws: ManagedObjectError.self) { try gallery.add("b", large) }
  }

  @Test("text and numbers of other programs are read as bytes, as in any column of binary data")
  func others() throws {
    let gallery = try Gallery(.own)
    try gallery.add("a", nil)
    for (value, expected) in [("'plain'", "plain"), ("12", "12"), ("'_EXTERNAL'", "_EXTERNAL")] {
      try DatabaseQueue(path: gallery.file.path).write { try $0.execute(sql: "UPDATE Photo SET image = \(value)") }
      #expect(try gallery.image("a") == Data(expected.utf8))
    }
  }

  @Test("in a Core Data store a value with another beginning is refused", arguments: ["x'0301'", "'text'", "x''"])
  func otherForms(_ value: String) throws {
    let gallery = try Gallery(.coreData)
    try gallery.add("a", nil)
    try DatabaseQueue(path: gallery.file.path).write { try $0.execute(sql: "UPDATE ZPHOTO SET ZIMAGE = \(value)") }
    #expect(try failure(gallery).kind == .corrupt)
  }

  @Test("with a commit that doesn't wait for the disk, files still go with their values")
  func atCheckpoint() throws {
    let gallery = try Gallery(.own, durability: .atCheckpoint)
    try gallery.add("a", large)
    try gallery.set("a", other)
    #expect(try gallery.names.count == 1 && gallery.image("a") == other)
  }
}

extension Gallery {
  /// Takes the values out of all rows, without reading them.
  func clear() throws {
    try DatabaseQueue(path: file.path).write { db in
      try db.execute(sql: kind == .own ? "UPDATE Photo SET image = NULL" : "UPDATE ZPHOTO SET ZIMAGE = NULL")
    }
  }
}
