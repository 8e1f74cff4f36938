import Foundation
import ManagedObjects

@testable import Importing

extension ImportRoom {
  /// Has every import record where rows come from.
  func traceRows() {
    let former = adjust
    adjust = { options in
      former(&options)
      options.lineage = true
    }
  }

  /// What was recorded of every object of an entity, as a line: its key, then each step with its record, line and byte.
  func histories(_ key: String, of entity: String = "Person") throws -> [String] {
    let context = context()
    return try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map { object in
      let steps = try RowHistory.steps(of: object.objectID, in: context).map { step in
        let place = step.place == .unknown ? "" : " \(step.place.record)@\(step.place.line)+\(step.place.byte)"
        return "\(step.job) \(step.event)\(place)"
      }
      return ([object.value(forKey: key)?.plainText ?? ""] + steps).joined(separator: "|")
    }.sorted()
  }

  /// How many objects hold what was recorded.
  func recorded() throws -> Int {
    try [ImportModel.jobEntity, ImportModel.lineageEntity, ImportModel.beforeEntity].reduce(0) {
      try $0 + count(of: $1)
    }
  }

  /// Expects every row that a job inserted or changed last to have the fingerprint that was recorded of it.
  /// - Returns: how many there are.
  func fingerprintsThatFit() throws -> (fitting: Int, others: Int) {
    let context = context()
    var latest: [ManagedObjectID: UInt32] = [:]
    let segments = try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.lineageEntity,
        sortDescriptors: [FetchSortDescriptor("job"), FetchSortDescriptor("save"), FetchSortDescriptor("part")]))
    for segment in segments {
      guard let event = RowEvent(rawValue: segment.number("event")) else { continue }
      for entry in try LineageEntries.read(segment.data("rows"), of: event) {
        let id = try coordinator.managedObjectID(entity: segment.text("entity"), number: entry.row)
        latest[id] = entry.fingerprint
      }
    }
    var (fitting, others) = (0, 0)
    for (id, fingerprint) in latest {
      let object = try context.existingObject(with: id)
      if RowFingerprint(object.entity).of(object.slots) == fingerprint { fitting += 1 } else { others += 1 }
    }
    return (fitting, others)
  }
}
