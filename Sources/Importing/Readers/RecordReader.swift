import ManagedObjects

/// Reads a source record by record, in batches. Made by `openReader`.
///
/// A reader belongs to one thread at a time. Its memory is bounded by the batch and by the longest record that
/// the options allow, not by the source.
protocol RecordReader: AnyObject {
  /// Names of the columns known so far. For JSON it grows as keys are met; an index, once given, stays.
  var columns: [String] { get }

  /// Empties the batch and reads the next records into it: up to `limit`, or until it holds about 4 MiB of text or half a
  /// million cells, whichever comes first. Sets the batch's `columns` and `end`.
  ///
  /// - Returns: false when there was nothing left.
  /// - Throws: `ReaderError`. Records before the place that is wrong are delivered first: the error is thrown by
  ///   the call after, and by every later one.
  func read(into batch: RecordBatch, limit: Int) throws -> Bool

  /// Size of the source in bytes when the reader was opened: of a compressed file its own size, of an
  /// archive's member the size stated in the archive.
  var bytesTotal: Int64 { get }

  /// How much of `bytesTotal` is done, for a progress bar. Of a compressed file it runs ahead of the records by a block.
  var bytesRead: Int64 { get }

  /// How rejected records of this source are written.
  var rejectForm: any RejectForm { get }

  /// What the reader found out about the source when it was opened.
  var findings: ReaderFindings { get }
}

extension RecordReader {
  var findings: ReaderFindings { ReaderFindings() }
}

/// What a reader found out about its source.
struct ReaderFindings {
  /// What stands between two fields.
  var delimiter: String?
  /// Whether the first line looks like column names; nil if it isn't taken for them.
  var looksLikeHeader: Bool?
  /// Assumptions that the options didn't state, one sentence each.
  var notes: [String] = []
  /// Whether all columns are known and no cell of this file has nested values; nil if only its format says so.
  var isTabular: Bool?
  /// The types that the file itself gives its columns, in their order; nil for one that nests. Empty if it gives none.
  var declarations: [ColumnDeclaration?] = []
}

/// What a file says of one of its columns.
struct ColumnDeclaration: Sendable, Hashable {
  let type: AttributeType
  /// Whether each record has a value.
  let isRequired: Bool
}

/// A reader that takes one record at a time: it implements ``readRecord(into:)``, and `read(into:limit:)` follows from it.
protocol SequentialReader: RecordReader {
  /// Appends the next record to the batch, or skips something that isn't a record.
  /// - Returns: false at the end of the source.
  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool

  /// Where another reader resumes after the records read so far.
  var position: ReaderPosition { get }

  /// The error that ended the reading. Set by ``readSequentially(into:limit:)`` alone.
  var failure: ReaderError? { get set }
}

extension SequentialReader {
  func read(into batch: RecordBatch, limit: Int) throws -> Bool { try readSequentially(into: batch, limit: limit) }

  /// Fills the batch record by record. An error is kept until the records before it have been delivered.
  @inline(__always)
  func readSequentially(into batch: RecordBatch, limit: Int) throws -> Bool {
    batch.removeAll()
    do throws(ReaderError) {
      if let failure { throw failure }
      while batch.count < max(1, limit), !batch.storage.pointee.isFull {
        guard try readRecord(into: batch) else { break }
      }
    } catch {
      failure = error
    }
    batch.columns = columns
    batch.end = position
    if batch.count == 0, let failure { throw failure }
    return batch.count > 0
  }
}

/// A reader's position between two records: enough to reopen the same file there after a kill.
package struct ReaderPosition: Codable, Sendable, Hashable {
  /// Offset of the next byte to be read, in the text after unpacking and decoding. To resume
  /// there, a plain UTF-8 file is seeked; a file that is compressed or in another encoding is read up to there again.
  package var byteOffset: Int64
  /// Line of that byte, counted from 1.
  package var line: Int64
  /// Records delivered so far, those with a problem included.
  package var record: Int64
  /// Further state for resuming, which only the same kind of reader understands. Empty for CSV and NDJSON.
  package var state: String

  /// A position of these parts.
  package init(byteOffset: Int64, line: Int64, record: Int64, state: String = "") {
    self.byteOffset = byteOffset
    self.line = line
    self.record = record
    self.state = state
  }

  /// The beginning of a file.
  package static let start = ReaderPosition(byteOffset: 0, line: 1, record: 0)
}
