import ManagedObjects
import Testing

@testable import Importing
@testable import Jobs

@Suite("Why an import failed")
struct ImportFailureTests {
  private static let damage = ReaderError.source(
    .corrupt(what: "gzip", offset: 1_210_555, reason: "incorrect data check"))
  private static let mistake = ReaderError.malformed(line: 3, column: 7, what: "a value was expected here")

  private static func progress(_ taken: Int64) -> ImportProgress {
    var counts = ImportCounts()
    (counts.records, counts.inserted) = (taken, taken)
    return ImportProgress(counts: counts, bytesDone: 0, bytesTotal: 0)
  }

  private static func entity(_ name: String) throws -> EntityDescription {
    try #require(try WarehouseModel.model.get().entitiesByName[name])
  }

  @Test("of damaged data says how many records are committed and may be wrong, and how to prevent that")
  func damage() throws {
    let item = try Self.entity("Item")
    let failure = JobFailure(Self.damage, of: ImportOptions(), into: item, after: Self.progress(49_999))
    #expect(!failure.isRetryable)
    #expect(
      failure.message.hasSuffix(
        "send or copy it again. 49999 records before the damage was found are committed and may be wrong. With atomic: file a "
          + "damaged file leaves nothing"))
    let none = JobFailure(Self.damage, of: ImportOptions(), into: item, after: Self.progress(0))
    #expect(none.message == Self.damage.description)
    var whole = ImportOptions()
    whole.atomicity = .file
    let rolledBack = JobFailure(Self.damage, of: whole, into: item, after: Self.progress(5))
    #expect(rolledBack.message == Self.damage.description + ". Nothing of the file was committed")
  }

  @Test("of a malformed document speaks of the records before it if there are some, and of a mode that is possible")
  func malformed() throws {
    let item = try Self.entity("Item")
    func says(_ mode: ImportMode?, _ taken: Int64) -> String {
      let message = JobFailure(Self.mistake, of: ImportOptions(mode: mode), into: item, after: Self.progress(taken))
        .message
      return String(message.dropFirst(Self.mistake.description.count))
    }
    #expect(says(nil, 0).isEmpty)
    #expect(says(nil, 1) == ". The 1 record before it is imported: correct the file and submit it again")
    #expect(
      says(.insert, 2)
        == ". The 2 records before it are imported: correct the file and submit the rest of it, or all of it by upsert")
    let many = JobFailure(
      MappingError.tooManyRejects(count: 9, limit: 8, first: "line 2: x"), of: ImportOptions(), into: item,
      after: Self.progress(3))
    #expect(many.message.hasSuffix("line 2: x. The 3 records imported before stay"))
  }

  @Test("of what the system refused SQLite may pass, and damage of a database doesn't")
  func databases() {
    func failure(_ error: SQLiteSourceError) -> JobFailure { JobFailure(ReaderError.database(error)) }
    let refused = failure(.refused(reason: "out of memory", record: 3))
    #expect((refused.code, refused.isRetryable) == ("file", true))
    #expect(refused.message == "after 3 records, the system refused SQLite something: out of memory")
    let full = failure(.noTemporarySpace)
    #expect((full.code, full.isRetryable) == ("disk_full", true))
    let damaged = failure(.failed(reason: "database disk image is malformed", record: 3))
    #expect((damaged.code, damaged.isRetryable) == ("malformed_source", false))
  }

  @Test("of which nothing was taken is final, and has a code of its own")
  func nothing() {
    let error = MappingError.nothingImported(records: 2, rejected: 2, first: "line 2: x")
    let failure = JobFailure(error, of: ImportOptions(), into: nil, after: Self.progress(0))
    #expect((failure.code, failure.isRetryable) == ("nothing_imported", false))
    #expect(failure.message == error.description)
  }
}
