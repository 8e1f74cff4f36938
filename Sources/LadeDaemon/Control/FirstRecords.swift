import ControlAPI
import Foundation
import Importing
import ManagedObjects
import Spool

/// The beginning of a file, read for somebody who maps its columns. Nothing is written. Bounded in records and in time.
struct FirstRecords: Sendable {
  static let longest = Duration.seconds(5)

  let model: ManagedObjectModel
  let file: SubmittedFile
  let entity: String
  let options: ImportOptions
  let credentials: MaskCredentials

  /// Adds the file's columns, or why there are none. Blocks.
  /// - Parameter limit: of ``longest``.
  func columns(_ known: FileColumns, _ limit: TrialLimit) throws -> FileColumns {
    var found = known
    guard let entity = model.entitiesByName[entity] else { return found }
    defer { withExtendedLifetime(file) {} }
    do {
      let source = try SourceColumns(request(limit), into: entity)
      found.format = source.format
      found.columns = source.columns.map { .init(name: $0.name, values: $0.values) }
      found.properties = source.properties.map {
        .init(
          name: $0.name, type: $0.type?.rawValue, entity: $0.destination, isToMany: $0.isToMany,
          isOptional: $0.isOptional, defaultValue: $0.defaultValue, column: $0.column, suggestion: $0.suggestion)
      }
      found.constraints = source.constraints
      found.notes = source.notes
    } catch let error as ReaderError {
      found.failure = error.description
    } catch let error as MappingError {
      found.failure = error.description
    } catch is Interrupted {
      found.failure = "its first records can't be read within \(Self.longest.components.seconds) s"
    }
    return found
  }

  /// The first records as they would be stored. Blocks.
  /// - Parameter limit: of ``longest``.
  /// - Returns: nil where an import would fail: a test says why.
  func rows(_ count: Int, _ limit: TrialLimit) throws -> ObjectPage? {
    guard let entity = model.entitiesByName[entity] else { return nil }
    defer { withExtendedLifetime(file) {} }
    do {
      let sample = try RecordSample(request(limit), into: entity, limit: count)
      return ObjectPage(
        entity: entity.name, columns: sample.properties, rows: sample.rows.map { $0.map { JSONValue($0) } })
    } catch is ReaderError {
      return nil
    } catch is MappingError {
      return nil
    } catch is MaskingError {
      return nil
    } catch is Interrupted {
      return nil
    }
  }

  private func request(_ limit: TrialLimit) -> ImportRequest {
    var request = ImportRequest(
      job: "columns", source: URL(fileURLWithPath: file.name), name: file.name, entity: entity, options: options,
      rejects: URL(fileURLWithPath: "/dev/null"))
    request.descriptor = file.descriptor
    request.credentials = credentials
    request.shouldStopWithinRecord = { limit.isOver }
    return request
  }
}
