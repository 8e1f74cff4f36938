// Keeps rule 7 (ARCHITECTURE.md): a record that can't be imported is in the job's reject file, with line and reason.
//
// The checkpoint has the file's length, without the closing that its format may need. Bytes that a killed run wrote past
// it are cut off. Records are durable, in a file whose name is durable, before the checkpoint that counts them
// is committed. The closing is rewritten after the last record each time, so the file is complete whenever a batch
// is.

import Foundation
import Glibc

/// The rejected records of one job, in the form of its source.
final class RejectFile {
  private let path: String
  private let form: any RejectForm
  /// Whether it begins with a byte order mark, which marks it as UTF-8 whatever the source's options say.
  private let isMarked: Bool
  private let isDurable: Bool
  /// Where its records are kept once more, as durable as here.
  private let copy: RejectFileCopy?
  private var descriptor: Int32 = -1
  private var buffer: [UInt8] = []
  /// The bytes written so far, without the closing.
  private(set) var length: Int64
  /// Whether the closing has been written after them.
  private var isClosed = true

  /// - Parameters:
  ///   - form: how a record is written.
  ///   - isMarked: whether the file is to begin with a byte order mark.
  ///   - length: the valid part of the file; the rest is from a run that was killed.
  ///   - isDurable: false for a file that nobody needs after a loss of power.
  ///   - copy: where its records are kept once more; what is there counts.
  init(
    path: String, form: any RejectForm, isMarked: Bool, length: Int64, isDurable: Bool = true,
    copy: RejectFileCopy? = nil
  ) throws {
    self.path = path
    self.copy = copy
    self.isDurable = isDurable
    self.length = length
    self.form = form
    self.isMarked = isMarked
    try copy?.cut(to: length)
    if length > 0 { try copy?.restore(path, to: length) }
    var status = stat()
    if lstat(path, &status) == 0 {
      try open()
      guard fstat(descriptor, &status) == 0 else { throw failure("look at") }
      // Extended, it would have zeros in place of the lost records.
      guard status.st_size >= length else { throw shortened(to: Int64(status.st_size)) }
      guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("truncate") }
      if length > 0 { try writeClosing() }
      // What was cut off would come back with a loss of power.
      guard status.st_size == length || fdatasync(descriptor) == 0 else { throw failure("sync") }
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
      if length == 0, buffer.isEmpty {
        buffer += (isMarked ? [0xEF, 0xBB, 0xBF] : []) + form.opening
      } else {
        buffer += form.separator
      }
      buffer += form.record(rejection)
    }
  }

  /// Writes the records added, durably.
  func flush() throws {
    guard !buffer.isEmpty else {
      if !isClosed, length > 0 {
        try writeClosing()
        try sync()
      }
      return
    }
    if descriptor < 0 { try open() }
    let closing = form.closing
    try write(buffer + closing, at: length)
    try sync()
    if length == 0, isDurable { try syncDirectory() }
    try copy?.write(buffer, at: length, closing: closing)
    length += Int64(buffer.count)
    isClosed = true
    buffer.removeAll(keepingCapacity: true)
  }

  /// Removes the records written past `length`.
  func truncate(to length: Int64) throws {
    // Those of an attempt that couldn't write them.
    buffer.removeAll(keepingCapacity: true)
    guard length < self.length else { return }
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("truncate") }
    try copy?.cut(to: length)
    self.length = length
    isClosed = false
  }

  /// Removes the records written past `length`, for good: nothing goes on with the file, unless it begins again.
  func cut(to length: Int64) throws {
    buffer.removeAll()
    guard descriptor >= 0, length <= self.length else { return }
    // Also what couldn't be written as a whole.
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("truncate") }
    try copy?.cut(to: length)
    self.length = length
    isClosed = false
    try flush()
    try removeIfEmpty()
  }

  /// Removes a file that has no record.
  func removeIfEmpty() throws {
    guard length == 0, descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove") }
  }

  private func sync() throws {
    guard !isDurable || fdatasync(descriptor) == 0 else { throw failure("sync") }
  }

  private func writeClosing() throws {
    try write(form.closing, at: length)
    isClosed = true
  }

  private func write(_ bytes: [UInt8], at offset: Int64) throws {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        pwrite(
          descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written, off_t(offset + Int64(written)))
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure("write")
      }
      written += count
    }
  }

  private func open() throws {
    descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
    guard descriptor >= 0 else { throw failure("open") }
  }

  /// Makes the file's name durable, as its content is.
  private func syncDirectory() throws {
    let directory = Glibc.open(
      URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure("open the directory of") }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw failure("sync the directory of") }
  }

  private func failure(_ operation: String) -> MappingError {
    .file(path, operation, code: errno)
  }

  private func shortened(to size: Int64) -> MappingError {
    .fileFailed(
      path: path, operation: "go on with",
      reason: "it held \(length) bytes of rejects and has \(size) now; put it back, or submit the file as a new job")
  }
}

/// How reject files are named: after the job, with an ending that settles the format when the file is dropped again.
package enum RejectFileName {
  /// The name of a job's reject file, such as `12.rejects.csv`.
  /// - Parameters:
  ///   - job: the job's number, or another name that no two jobs share.
  ///   - source: the name of the file that is imported.
  ///   - options: those that it is read with.
  package static func name(job: String, source: String, _ options: ReaderOptions) -> String {
    folderName(job: job) + ending(of: source, options)
  }

  /// The name of the folder of a feed's reject files, which have the names of their sources.
  package static func folderName(job: String) -> String { "\(job).rejects" }

  /// The ending for the rejects of a source, with its dot: that of the source without the ending of its compression, such as
  /// `.csv` for `people.csv.gz`; empty when the name has none.
  static func ending(of source: String, _ options: ReaderOptions) -> String {
    let formats = FileFormats.standard
    var name = SourceCompression.ofName(source)?.inner ?? source
    let isArchive = [".zip", ".tar"].contains { name.lowercased().hasSuffix($0) }
    if isArchive { name = options.member ?? "" }
    let named = formats.format(ofFileName: name)
    if let format = options.format.flatMap({ formats[$0] }), named?.name != format.name { return format.rejectEnding }
    if let named, named.rejectFormat != named.name { return named.rejectEnding }
    let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
    guard !ending.isEmpty, ending.utf8.count <= 16, ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return "" }
    return "." + ending.lowercased()
  }
}
