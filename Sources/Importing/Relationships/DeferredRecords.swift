// Rules 3, 4 and 9 (ARCHITECTURE.md) for records that need an object which a later row may be: they are kept in the store
// and saved with the batch they came in, one object of `lade_aside` for each record. At the end of the file they are applied
// in file order, again and again until a round applies none; what is left then is rejected. The result of a record and its
// deletion are one save with the counts, so a kill between any two saves loses nothing. Memory is that of one batch of them.

import Foundation
import ManagedObjects

/// The deferred records of a job.
struct DeferredRecords {
  /// How much text one round's records may have together, in bytes.
  private static let textLimit = 4 << 20
  private let context: ManagedObjectContext
  private let job: String
  /// How many are applied by one save.
  private let batchSize: Int

  init(context: ManagedObjectContext, job: String, batchSize: Int) {
    self.context = context
    self.job = job
    self.batchSize = batchSize
  }

  /// Whether the job has none.
  func isEmpty() throws -> Bool {
    try context.count(for: FetchRequest(entityName: ImportModel.asideEntity, predicate: ofJob, fetchLimit: 1)) == 0
  }

  /// Keeps a record, with the key of its object if it has one.
  func keep(_ record: DeferredRecord, identity: String) throws {
    let object = try context.insert(ImportModel.asideEntity)
    let values: [(String, Value)] = [
      ("job", .string(job)), ("record", .int(record.record)), ("identity", .string(identity)),
      ("payload", .string(try record.payload())),
      ("raw", .data(Data(record.raw))),
    ]
    for (name, value) in values { try object.setValue(value, forKey: name) }
  }

  /// The next records after one, in file order.
  func next(after record: Int64) throws -> [DeferredRow] {
    let request = FetchRequest<ManagedObject>(
      entityName: ImportModel.asideEntity, predicate: ofJob && .between("record", .int(record + 1), .int(.max)),
      sortDescriptors: [FetchSortDescriptor("record")], fetchLimit: max(1, min(batchSize, 1000)))
    var found: [DeferredRow] = []
    var length = 0
    // One by one, since one may be as long as all of them together should be.
    for id in try context.fetchIDs(request) where length < Self.textLimit {
      let object = try context.existingObject(with: id)
      let record = try Self.record(object)
      length += record.raw.count
      found.append(DeferredRow(record, id: id, isSuperseded: object.value(forKey: "overtaken") != .int(0)))
    }
    return found
  }

  /// Marks the records whose objects later records were about.
  /// - Parameter identities: the number of the last record of each object, by the object's key.
  func supersede(_ identities: [String: Int64]) throws {
    for part in Array(identities.keys).parts(of: 10_000) {
      let request = FetchRequest<ManagedObject>(
        entityName: ImportModel.asideEntity, predicate: ofJob && .isIn("identity", part.map { .string($0) }))
      for object in try context.fetch(request) {
        guard let identity = object.value(forKey: "identity")?.plainText, let later = identities[identity],
          case .int(let record)? = object.value(forKey: "record"), record < later
        else { continue }
        try object.setValue(.int(1), forKey: "overtaken")
      }
    }
  }

  /// Deletes everything that is kept for the job. The context is reset.
  func removeAll() throws {
    while true {
      let ids = try context.fetchIDs(
        FetchRequest<ManagedObject>(entityName: ImportModel.asideEntity, predicate: ofJob, fetchLimit: 1000))
      if ids.isEmpty { return }
      for id in ids { context.delete(context.object(with: id)) }
      try context.save()
      context.reset()
    }
  }

  private static func record(_ object: ManagedObject) throws -> DeferredRecord {
    var raw: [UInt8] = []
    if case .data(let data)? = object.value(forKey: "raw") { raw = Array(data) }
    return try DeferredRecord(payload: object.value(forKey: "payload")?.plainText ?? "", raw: raw)
  }

  private var ofJob: FetchPredicate { .equal("job", .string(job)) }
}
