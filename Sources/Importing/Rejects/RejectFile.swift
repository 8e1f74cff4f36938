// Rule 7 of the design, kept here: a record that can't be imported is in the job's reject file, with line and reason.
//
// The file's length stands in the checkpoint. What a killed run wrote past it is cut off, and lines are on the disk, in
// a file whose name is on the disk, before the checkpoint that counts them is committed.

import Foundation
import Glibc

/// The rejected records of one job: of a CSV source as CSV with four columns before its own, of any other as NDJSON
/// with the record as it was.
final class RejectFile {
  private let path: String
  private let form: RejectLine
  private let columns: [String]
  private var descriptor: Int32 = -1
  private var buffer: [UInt8] = []
  /// The length in bytes of what has been written.
  private(set) var length: Int64

  /// - Parameters:
  ///   - form: how a line is written.
  ///   - columns: the columns of a CSV source.
  ///   - length: how much of the file counts: the rest is of a run that was killed.
  init(path: String, form: RejectLine, columns: [String], length: Int64) throws {
    self.path = path
    self.length = length
    self.form = form
    self.columns = columns
    var status = stat()
    if lstat(path, &status) == 0 {
      try open()
      guard fstat(descriptor, &status) == 0 else { throw failure("look at") }
      // Made longer, it would have zeroes for the records that were lost.
      guard status.st_size >= length else { throw shortened(to: Int64(status.st_size)) }
      guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("truncate") }
    } else if errno != ENOENT {
      throw failure("look at")
    } else if length > 0 {
      throw MappingError.fileFailed(path: path, operation: "find", reason: "it held \(length) bytes of rejects")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds records in the order given.
  func append(_ rejections: [Rejection]) {
    for rejection in rejections {
      if length == 0, buffer.isEmpty { buffer += form.header(columns) }
      buffer += form.line(rejection)
    }
  }

  /// Writes what was added and waits until the disk has it.
  func flush() throws {
    guard !buffer.isEmpty else { return }
    if descriptor < 0 { try open() }
    if lseek(descriptor, off_t(length), SEEK_SET) < 0 { throw failure("seek in") }
    var written = 0
    while written < buffer.count {
      let count = buffer.withUnsafeBytes { bytes in
        write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure("write")
      }
      written += count
    }
    guard fdatasync(descriptor) == 0 else { throw failure("sync") }
    if length == 0 { try syncDirectory() }
    length += Int64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Takes back what was written past `length`.
  func truncate(to length: Int64) throws {
    guard length < self.length else { return }
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("truncate") }
    self.length = length
  }

  private func open() throws {
    descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
    guard descriptor >= 0 else { throw failure("open") }
  }

  /// Makes the file's name survive a loss of power, as its content does.
  private func syncDirectory() throws {
    let directory = Glibc.open(
      URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure("open the directory of") }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw failure("sync the directory of") }
  }

  private func failure(_ operation: String) -> MappingError {
    .fileFailed(path: path, operation: operation, reason: String(cString: strerror(errno)))
  }

  private func shortened(to size: Int64) -> MappingError {
    .fileFailed(
      path: path, operation: "go on with",
      reason: "it held \(length) bytes of rejects and has \(size) now; put it back, or submit the file as a new job")
  }
}
