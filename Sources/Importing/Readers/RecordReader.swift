/// Reads a source record by record, in batches. Made by `openReader`.
///
/// A reader belongs to one thread at a time. Its memory is bounded by the batch and by the longest record that
/// the options allow, not by the source.
package protocol RecordReader: AnyObject {
  /// Names of the columns known so far. For JSON it grows as keys are met; an index, once given, stays.
  var columns: [String] { get }

  /// Empties the batch and reads the next records into it: up to `limit`, or until about 4 MiB of text or half a
  /// million cells are in it, whichever comes first. Sets the batch's `columns` and `end`.
  ///
  /// - Returns: false when there was nothing left.
  /// - Throws: `ReaderError`. Records before the place that is wrong are delivered first: the error is thrown by
  ///   the call after, and by every later one.
  func read(into batch: RecordBatch, limit: Int) throws -> Bool

  /// Size of the source in bytes, as it was when the reader was opened. Of a compressed file its own size, of an
  /// archive's member that which the archive gives.
  var bytesTotal: Int64 { get }

  /// How much of `bytesTotal` is done, for a progress bar. Of a compressed file it runs ahead of the records by a block.
  var bytesRead: Int64 { get }
}
