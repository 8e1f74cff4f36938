import ControlAPI
import ControlServer
import Foundation
import Glibc
import Importing

/// The rejects of a job that has ended, as one file. Bounded in memory, and read without waiting for its reader.
final class RejectDownload: @unchecked Sendable {
  // Sendable: what changes is touched by `next()` alone, which is called on the queue of reject files.

  /// How many bytes a part has, or a few more.
  private static let bytes = 256 << 10

  private let file: URL
  private let isFeed: Bool
  private let records: @Sendable () throws -> RejectedRecords
  /// The name under which it is kept.
  let name: String
  /// Of a single file: where the next part begins; nil after the last.
  private var place: Int64? = 0
  /// Of a feed: what is read already. It stays open, so that no record is passed over twice.
  private var cursor: RejectCursor?
  /// Records that were read and aren't sent yet.
  private var unsent: ArraySlice<RejectedRecord> = []

  init(job: Int64, file: URL, isFeed: Bool, _ records: @escaping @Sendable () throws -> RejectedRecords) {
    self.file = file
    self.isFeed = isFeed
    self.records = records
    name = isFeed ? "job-\(job).rejects.jsonl" : file.lastPathComponent
  }

  /// The next part; nil after the last. Blocks.
  func next() throws -> [UInt8]? { isFeed ? try lines() : try someBytes() }

  /// A single file is in the format of its source, complete by itself, with the reasons where its reader skips them.
  private func someBytes() throws -> [UInt8]? {
    guard let place else { return nil }
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure("open") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.bytes)
    var count = pread(descriptor, &bytes, bytes.count, off_t(place))
    while count < 0, errno == EINTR { count = pread(descriptor, &bytes, bytes.count, off_t(place)) }
    guard count >= 0 else { throw failure("read") }
    bytes.removeLast(bytes.count - count)
    self.place = count == Self.bytes ? place + Int64(count) : nil
    return bytes
  }

  /// Why the call before has failed.
  private func failure(_ operation: String) -> MappingError {
    .fileFailed(path: file.path, operation: operation, reason: String(cString: strerror(errno)))
  }

  /// Of a feed, each file has a format of its own.
  private func lines() throws -> [UInt8]? {
    let cursor = try self.cursor ?? RejectCursor(try records())
    self.cursor = cursor
    var bytes: [UInt8] = []
    while bytes.count < Self.bytes {
      if unsent.isEmpty {
        guard let some = try cursor.next() else { break }
        unsent = some[...]
      }
      while bytes.count < Self.bytes, let record = unsent.popFirst() {
        bytes += try WireFormat.encode(RejectLine(record))
        bytes.append(UInt8(ascii: "\n"))
      }
    }
    return bytes.isEmpty ? nil : bytes
  }
}

/// A rejected record of a feed, as a line of JSON.
private struct RejectLine: Encodable {
  let number: Int64
  let file: String?
  let line: Int64
  let column: String
  let code: String
  let message: String
  /// The record as it was in its file; in Base64 under `bytes` where it isn't text.
  let record: String?
  let bytes: Data?

  init(_ record: RejectedRecord) {
    number = record.number
    file = record.file
    line = record.line
    column = record.column
    code = record.code
    message = record.message
    self.record = String(validating: record.record, as: UTF8.self)
    bytes = self.record == nil ? Data(record.record) : nil
  }
}
