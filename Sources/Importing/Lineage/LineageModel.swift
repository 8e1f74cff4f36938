import Foundation
import ManagedObjects

/// The entities in which jobs record what they change. Each save adds a few objects, however many rows it writes: a row's origin
/// takes some bytes in a list, and none in its own table.
///
/// `lade_job` has an object for each job, with an empty `member`, and one for each member of its file that is imported by itself.
/// `lade_lineage` has one for each save, entity and event; `count` is negative where `lade_before` has members of inserted rows' sets,
/// with `first` from -1 downwards. `lade_before` has the former values for one of these, in parts, until
/// they aren't kept any more.
enum LineageModel {
  static var entities: [EntityDefinition] {
    [
      EntityDefinition(
        ImportModel.jobEntity,
        attributes: ["job", "member", "kind", "name", "inside", "digest", "recipe", "submitter", "entity"].map(text)
          + ["number", "saves", "events", "before", "undoes", "undoneBy"].map(number)
          + [AttributeDefinition("submitted", .date, isOptional: false), AttributeDefinition("ended", .date)],
        uniquenessConstraints: [["job", "member"]]),
      EntityDefinition(
        ImportModel.lineageEntity,
        attributes: ["job", "member", "entity"].map(text)
          + ["save", "part", "event", "count", "firstRow", "lastRow"].map(number)
          + [AttributeDefinition("rows", .binaryData, isOptional: false)],
        indexes: [
          FetchIndexDefinition("bySave", elements: [.init(property: "job"), .init(property: "save")]),
          FetchIndexDefinition("byRow", elements: [.init(property: "entity"), .init(property: "firstRow")]),
        ]),
      EntityDefinition(
        ImportModel.beforeEntity,
        attributes: [text("job")] + ["save", "part", "first"].map(number)
          + [
            AttributeDefinition("saved", .date, isOptional: false),
            AttributeDefinition("images", .binaryData, isOptional: false),
          ],
        indexes: [
          FetchIndexDefinition("bySave", elements: [.init(property: "job"), .init(property: "save")]),
          FetchIndexDefinition("byTime", elements: [.init(property: "saved")]),
        ]),
    ]
  }

  private static func text(_ name: String) -> AttributeDefinition {
    AttributeDefinition(name, .string, isOptional: false, defaultValue: .string(""))
  }

  private static func number(_ name: String) -> AttributeDefinition {
    AttributeDefinition(name, .integer64, isOptional: false, defaultValue: .int(0))
  }
}

/// What reads and sets the attributes of these entities.
extension ManagedObject {
  func number(_ key: String) -> Int64 { value(forKey: key).flatMap(Int64.init(slotValue:)) ?? 0 }

  func text(_ key: String) -> String { value(forKey: key).flatMap(String.init(slotValue:)) ?? "" }

  func date(_ key: String) -> Date? {
    if case .date(let date)? = value(forKey: key) { return date }
    return nil
  }

  func data(_ key: String) -> Data {
    if case .data(let data)? = value(forKey: key) { return data }
    return Data()
  }

  func set(_ numbers: KeyValuePairs<String, Int64>) throws {
    for (key, number) in numbers { try setValue(.int(number), forKey: key) }
  }

  func set(_ texts: KeyValuePairs<String, String>) throws {
    for (key, text) in texts { try setValue(.string(text), forKey: key) }
  }
}
