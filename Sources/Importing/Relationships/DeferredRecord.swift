import Foundation
import ManagedObjects

/// A deferred record: it needs an object that a later row may be. Holds its row, and what the reject file needs if the object
/// never comes.
///
/// Everything is by name rather than by place, because a run that resumes a JSON source sees other columns.
struct DeferredRecord: Codable {
  /// The columns that the record has, without ignored ones.
  var columns: [String]
  /// The attributes that differ from those of a new object.
  var values: [String: Value]
  /// The key of each to-one relationship that the record mentions.
  var keys: [String: Value]
  var lists: [String: [Value]]
  /// The nested objects of relationships, as JSON.
  var nested: [String: String]
  /// Its number in the source.
  var record: Int64
  var line: Int64
  /// The offset of its first byte in the source; nil in what an earlier version has kept.
  var byteOffset: Int64?
  var isSelfContained: Bool
  /// Its text in the source; kept beside the rest.
  var raw: [UInt8] = []

  private enum CodingKeys: String, CodingKey {
    case columns, values, keys, lists, nested, record, line, byteOffset, isSelfContained
  }

  /// Keeps a row of a batch.
  init(_ row: ConvertedBatch.Row, of batch: ConvertedBatch) {
    if let deferred = row.deferred {
      self = deferred.kept
      return
    }
    let mapping = batch.mapping
    let reason = batch.source.rejection(row.record, code: "", message: "")
    line = reason.line
    raw = reason.raw
    isSelfContained = reason.isSelfContained
    record = batch.number(of: row)
    byteOffset = batch.source.byteOffset(row.record)
    let ignored = Set(mapping.ignored)
    columns = mapping.columns.enumerated().filter { place, name in
      batch.source.cell(row.record, place).kind != .missing && !ignored.contains(name)
    }.map(\.element)
    let initial = mapping.rules.initialValues
    values = [:]
    for attribute in mapping.entity.attributes
    where !attribute.isTransient && row.values[attribute.slot] != initial[attribute.slot] {
      values[attribute.name] = row.values[attribute.slot]
    }
    keys = [:]
    for (reference, key) in zip(mapping.references, row.keys) where key != .unresolved {
      keys[reference.relationship.name] = key
    }
    lists = [:]
    nested = [:]
    for item in row.nested {
      nested[item.link.relationship.name] = String(decoding: item.value.data, as: UTF8.self)
    }
    for (collection, list) in zip(mapping.collections, row.lists) {
      if let list { lists[collection.relationship.name] = list }
    }
  }

  /// Everything except the record's own bytes, as JSON.
  func payload() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// Reads what ``payload()`` wrote.
  init(payload: String, raw: [UInt8]) throws {
    self = try JSONDecoder().decode(DeferredRecord.self, from: Data(payload.utf8))
    self.raw = raw
  }
}

/// A deferred record, as a row of a batch again.
final class DeferredRow: Sendable {
  let kept: DeferredRecord
  /// The object that holds it in the store.
  let id: ManagedObjectID
  /// Whether a later record of the same object was applied, and counts.
  let isSuperseded: Bool
  /// The columns that the record has.
  let columns: Set<String>

  init(_ kept: DeferredRecord, id: ManagedObjectID, isSuperseded: Bool) {
    self.kept = kept
    self.id = id
    self.isSuperseded = isSuperseded
    columns = Set(kept.columns)
  }

  /// The row, under a mapping of its columns.
  func row(_ place: Int, _ mapping: RecordMapping) throws -> ConvertedBatch.Row {
    var values = mapping.rules.initialValues
    for attribute in mapping.entity.attributes {
      if let value = kept.values[attribute.name] { values[attribute.slot] = value }
    }
    let conversion = NestedConversion(mappings: mapping.nestedMappings)
    let nested = try mapping.nesting.compactMap { place -> ConvertedBatch.Nested? in
      guard let text = kept.nested[place.end.relationship.name] else { return nil }
      var json = text
      let value = json.withUTF8 { NestedValue(json: UnsafeRawBufferPointer($0)) } ?? .null
      return .init(value: value, link: try conversion.link(value, place.end, at: place.end.relationship.name))
    }
    return ConvertedBatch.Row(
      record: place, values: values,
      keys: mapping.references.map { kept.keys[$0.relationship.name] ?? .unresolved },
      lists: mapping.collections.map { kept.lists[$0.relationship.name] }, nested: nested, deferred: self)
  }
}
