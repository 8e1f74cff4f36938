// Rules 3, 4 and 9 of the design for records that need an object which a later row may be: they stand in the store, saved
// with the batch they came in, one object of `lade_aside` a record. At the end of the file they are applied, in file
// order and again until a round brings nothing new; what is left then is rejected. What becomes of one, and taking it
// away, is one save with the counts; so it may be killed between any two saves, and memory is that of some of them.

import Foundation
import ManagedObjects

/// The records of a job that have been set aside.
struct AsideRecords {
  /// The texts of one round's records together, in bytes.
  private static let bytes = 4 << 20
  let context: ManagedObjectContext
  let job: String
  /// How many are applied by one save.
  let batchSize: Int

  /// Whether the job has any.
  func isEmpty() throws -> Bool {
    try context.count(for: FetchRequest(entityName: ImportModel.asideEntity, predicate: ofJob, fetchLimit: 1)) == 0
  }

  /// Keeps a record, with the key of its object if it has one.
  func keep(_ record: SetAside, identity: String) throws {
    let object = try context.insert(ImportModel.asideEntity)
    let values: [(String, Value)] = [
      ("job", .string(job)), ("record", .int(record.record)), ("identity", .string(identity)),
      ("payload", .string(try record.payload())),
      ("raw", .data(Data(record.raw))),
    ]
    for (name, value) in values { try object.setValue(value, forKey: name) }
  }

  /// The next records after one, in file order.
  func next(after record: Int64) throws -> [AsideRow] {
    let request = FetchRequest<ManagedObject>(
      entityName: ImportModel.asideEntity, predicate: ofJob && .between("record", .int(record + 1), .int(.max)),
      sortDescriptors: [FetchSortDescriptor("record")], fetchLimit: max(1, min(batchSize, 1000)))
    var found: [AsideRow] = []
    var length = 0
    // One by one, since one may be as long as all of them together should be.
    for id in try context.fetchIDs(request) where length < Self.bytes {
      let object = try context.existingObject(with: id)
      let record = try Self.record(object)
      length += record.raw.count
      found.append(AsideRow(record, id: id, isOvertaken: object.value(forKey: "overtaken") != .int(0)))
    }
    return found
  }

  /// Marks records whose object a later record was about.
  func overtake(_ identities: [String: Int64]) throws {
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

  /// Takes away everything that is kept for the job. The context is reset.
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

  private static func record(_ object: ManagedObject) throws -> SetAside {
    var raw: [UInt8] = []
    if case .data(let data)? = object.value(forKey: "raw") { raw = Array(data) }
    return try SetAside(payload: object.value(forKey: "payload")?.plainText ?? "", raw: raw)
  }

  private var ofJob: FetchPredicate { .equal("job", .string(job)) }
}
