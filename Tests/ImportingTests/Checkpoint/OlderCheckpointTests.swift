import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@testable import Importing

/// A store that an earlier version made is opened with this one's model, as the daemon opens it.
@Suite("A checkpoint of an earlier version")
struct OlderCheckpointTests {
  private static let note = EntityDefinition(
    "Note", attributes: [AttributeDefinition("key", .integer32), AttributeDefinition("text", .string)],
    uniquenessConstraints: [["key"]])

  /// The entity as it was before it counted deleted and skipped records.
  private static let checkpoint = EntityDefinition(
    "lade_checkpoint",
    attributes: [AttributeDefinition("job", .string, isOptional: false)]
      + ["readerState", "identity"].map {
        AttributeDefinition($0, .string, isOptional: false, defaultValue: .string(""))
      }
      + [
        "byteOffset", "line", "record", "inserted", "updated", "unchanged", "rejected", "unresolved", "rejectsLength",
        "finished",
      ].map { AttributeDefinition($0, .integer64, isOptional: false, defaultValue: .int(0)) },
    uniquenessConstraints: [["job"]])

  private static let unresolved = EntityDefinition(
    "lade_unresolved",
    attributes: [
      AttributeDefinition("job", .string, isOptional: false), AttributeDefinition("entity", .string, isOptional: false),
      AttributeDefinition("row", .integer64, isOptional: false),
      AttributeDefinition("keys", .string, isOptional: false),
      AttributeDefinition("counted", .string, isOptional: false),
    ],
    indexes: [FetchIndexDefinition("byRow", elements: [.init(property: "job"), .init(property: "row")])])

  @Test("is read with what it counted, and the rows beside it are as they were")
  func opened() throws {
    let directory = try ScratchDirectory()
    var description = PersistentStoreDescription.sqlite(at: directory.file("store.sqlite"))
    description.refusesLossyMigration = true
    do {
      let model = try ManagedObjectModel(entities: [Self.note, Self.checkpoint, Self.unresolved])
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addPersistentStore(description)
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      for number in 0..<100 {
        let note = try context.insert("Note")
        try note.setValue(.int(Int64(number)), forKey: "key")
        try note.setValue(.string("note \(number)"), forKey: "text")
      }
      let old = try context.insert("lade_checkpoint")
      try old.setValue(.string("7"), forKey: "job")
      try old.setValue(.string("a file"), forKey: "identity")
      for (name, value) in [("record", 100), ("inserted", 90), ("rejected", 10), ("byteOffset", 4711)] {
        try old.setValue(.int(Int64(value)), forKey: name)
      }
      try context.save()
      try coordinator.close()
    }
    let coordinator = PersistentStoreCoordinator(
      model: try ImportModel.adding(to: ManagedObjectModel(entities: [Self.note])))
    try coordinator.addPersistentStore(description)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    var checkpoint = try #require(try ImportCheckpoint.read("7", in: context))
    #expect((checkpoint.position.byteOffset, checkpoint.position.record) == (4711, 100))
    #expect(checkpoint.identity == "a file")
    #expect((checkpoint.counts.inserted, checkpoint.counts.rejected) == (90, 10))
    #expect((checkpoint.counts.deleted, checkpoint.counts.skipped) == (0, 0))
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 100)

    checkpoint.counts.deleted = 3
    checkpoint.counts.skipped = 4
    try checkpoint.write(to: ImportCheckpoint.object("7", in: context))
    try context.save()
    context.reset()
    #expect(try ImportCheckpoint.read("7", in: context) == checkpoint)
  }
}
