import ControlAPI
import ControlServer
import Foundation
import Glibc
import Importing

/// The rejects of a job that has ended, as one file. Bounded in memory, and read without waiting for its reader.
struct RejectDownload: Sendable {
  /// How many bytes or records a part has.
  private static let bytes = 256 << 10
  private static let records = 1000

  let job: Int64
  let file: URL
  let isFeed: Bool

  /// The part that begins at a place. Blocks.
  func part(from place: Int64, _ records: () throws -> RejectedRecords) throws -> RejectFilePart {
    isFeed ? try lines(after: place, try records()) : try bytes(from: place)
  }

  /// A single file is in the format of its source, complete by itself, with the reasons where its reader skips them.
  private func bytes(from place: Int64) throws -> RejectFilePart {
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure("open") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.bytes)
    var count = pread(descriptor, &bytes, bytes.count, off_t(place))
    while count < 0, errno == EINTR { count = pread(descriptor, &bytes, bytes.count, off_t(place)) }
    guard count >= 0 else { throw failure("read") }
    bytes.removeLast(bytes.count - count)
    return RejectFilePart(
      name: file.lastPathComponent, bytes: bytes, next: count == Self.bytes ? place + Int64(count) : nil)
  }

  /// Why the call before has failed.
  private func failure(_ operation: String) -> MappingError {
    .fileFailed(path: file.path, operation: operation, reason: String(cString: strerror(errno)))
  }

  /// Of a feed, each file has a format of its own.
  private func lines(after number: Int64, _ records: RejectedRecords) throws -> RejectFilePart {
    var part = RejectFilePart(name: "job-\(job).rejects.jsonl", bytes: [], next: nil)
    var count = 0
    try records.forEach(after: number) { some in
      for record in some {
        if count == Self.records || part.bytes.count >= Self.bytes { return false }
        part.bytes += try WireFormat.encode(RejectLine(record))
        part.bytes.append(UInt8(ascii: "\n"))
        part.next = record.number
        count += 1
      }
      return true
    }
    if count == 0 { part.next = nil }
    return part
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
