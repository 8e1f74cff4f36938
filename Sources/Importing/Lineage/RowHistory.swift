package import Foundation
package import ManagedObjects

/// Where a row comes from, and what has changed it since, as far as jobs have recorded it.
package struct RowHistory: Sendable {
  /// What one job did to the row.
  package struct Step: Sendable, Hashable {
    package let event: RowEvent
    /// The number of the job in its queue.
    package let job: Int64
    package let kind: String
    /// The number of the job that it took back; 0 if it took back none.
    package let undoes: Int64
    /// The number of the job that has taken it back; 0 if none has.
    package let undoneBy: Int64
    package let recipe: String
    package let submitter: String
    package let submitted: Date
    /// When the import's last save was made; nil for one that hasn't ended.
    package let ended: Date?
    /// The file's name; empty for a job without one.
    package let file: String
    /// The member of the archive or the sheet; empty if the file has none.
    package let member: String
    /// The file's SHA-256; empty before the import has ended.
    package let digest: String
    /// The record that it was; its numbers are 0 where the change followed from another.
    package let place: RecordPlace
  }

  private static let page = 64

  /// What was recorded of a row that exists, the oldest first. Empty for a row of unknown origin.
  /// - Parameter id: with the object's own entity.
  package static func steps(of id: ManagedObjectID, in context: ManagedObjectContext) throws -> [Step] {
    guard context.model.entitiesByName[ImportModel.lineageEntity] != nil else { return [] }
    let (entity, number) = (id.entity.name, id.number)
    let covers: FetchPredicate =
      .equal("entity", .string(entity)) && .comparison(.path("firstRow"), .lessOrEqual, .constant(.int(number)))
      && .comparison(.path("lastRow"), .greaterOrEqual, .constant(.int(number)))
    var steps: [Step] = []
    var last: ManagedObjectID?
    while true {
      let rest = last.map { FetchPredicate.comparison(.path("SELF"), .greater, .constant(.object($0))) }
      let found = try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.lineageEntity, predicate: .and([covers, rest].compactMap { $0 }),
          sortDescriptors: [FetchSortDescriptor("objectID")], fetchLimit: page))
      for object in found {
        guard let event = RowEvent(rawValue: object.number("event")) else { throw LineageError.damaged }
        var place: RecordPlace?
        try LineageEntries.each(object.data("rows"), of: event) { entry in
          if entry.row == number { place = entry.place }
        }
        guard let place else { continue }
        steps.append(try step(event, place, object.text("job"), object.text("member"), in: context))
      }
      guard found.count == page, let end = found.last else { return ofPresentRow(steps) }
      last = end.objectID
    }
  }

  /// Without what befell a former row with the same number: one that was deleted. What has inserted the present one isn't known.
  private static func ofPresentRow(_ steps: [Step]) -> [Step] {
    guard let end = steps.lastIndex(where: { $0.event == .deleted }) else { return steps }
    let rest = steps[(end + 1)...]
    return rest.contains { $0.event == .inserted } ? steps : Array(rest)
  }

  /// A key as an attribute has it, from the text that people write, as an import would take it; nil if it can't be one.
  package static func key(_ text: String, of attribute: AttributeDescription) throws -> Value? {
    let converter = try ValueConverter(attribute: attribute, dateFormat: nil)
    var text = text
    return text.withUTF8 { bytes in
      do throws(ConversionCode) {
        return try converter.convert(text: UnsafeRawBufferPointer(bytes))
      } catch {
        return nil
      }
    }
  }

  private static func step(
    _ event: RowEvent, _ place: RecordPlace, _ job: String, _ member: String, in context: ManagedObjectContext
  ) throws -> Step {
    guard let whole = try LineageRecorder.find(job, "", in: context) else { throw LineageError.damaged }
    let part = member.isEmpty ? whole : try LineageRecorder.find(job, member, in: context) ?? whole
    return Step(
      event: event, job: whole.number("number"), kind: whole.text("kind"), undoes: whole.number("undoes"),
      undoneBy: max(0, whole.number("undoneBy")), recipe: whole.text("recipe"), submitter: whole.text("submitter"),
      submitted: whole.date("submitted") ?? .distantPast, ended: whole.date("ended"), file: whole.text("name"),
      member: part.text("inside"), digest: whole.text("digest"), place: place)
  }
}
