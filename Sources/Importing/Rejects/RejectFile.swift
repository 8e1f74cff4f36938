// Rule 7 of the design, kept here: a record that can't be imported is in the job's reject file, with line and reason.
//
// The file's length stands in the checkpoint. What a killed run wrote past it is cut off, and lines are on the disk
// before the checkpoint that counts them is committed.

import Foundation
import Glibc

/// The rejected records of one job: of a CSV source as CSV with four columns before its own, of any other as NDJSON
/// with the record as it was.
final class RejectFile {
  private let path: String
  private let delimiter: String?
  private let header: String?
  private var descriptor: Int32 = -1
  private var buffer: [UInt8] = []
  /// The length in bytes, everything appended included.
  private(set) var length: Int64

  /// - Parameters:
  ///   - header: the columns of a CSV source; nil for another kind of source.
  ///   - length: how much of the file counts: the rest is of a run that was killed.
  init(path: String, delimiter: String?, header: [String]?, length: Int64) throws {
    self.path = path
    self.length = length
    self.delimiter = delimiter
    let separator = delimiter ?? ","
    self.header = header.map { columns in
      (["lade_line", "lade_column", "lade_code", "lade_message"] + columns)
        .map { Self.field($0, separator) }.joined(separator: separator) + "\n"
    }
    if access(path, F_OK) == 0 {
      try open()
      guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("truncate") }
    } else if length > 0 {
      throw MappingError.fileFailed(path: path, operation: "find", reason: "it held \(length) bytes of rejects")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds records in the order given.
  func append(_ rejections: [Rejection]) {
    for rejection in rejections {
      if header != nil { appendCSV(rejection) } else { appendJSON(rejection) }
    }
  }

  /// Writes what was added and waits until the disk has it.
  func flush() throws {
    guard !buffer.isEmpty else { return }
    if descriptor < 0 { try open() }
    if lseek(descriptor, off_t(length), SEEK_SET) < 0 { throw failure("seek in") }
    var written = 0
    while written < buffer.count {
      let count = buffer.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, $0.count - written) }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure("write")
      }
      written += count
    }
    guard fdatasync(descriptor) == 0 else { throw failure("sync") }
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
    descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard descriptor >= 0 else { throw failure("open") }
  }

  private func failure(_ operation: String) -> MappingError {
    .fileFailed(path: path, operation: operation, reason: String(cString: strerror(errno)))
  }

  private func appendCSV(_ rejection: Rejection) {
    if length == 0, buffer.isEmpty, let header { buffer += Array(header.utf8) }
    let separator = delimiter ?? ","
    let fields = [String(rejection.line), rejection.column, rejection.code, rejection.message]
    buffer += Array(fields.map { Self.field($0, separator) }.joined(separator: separator).utf8)
    buffer += Array(separator.utf8)
    buffer += rejection.raw
    buffer.append(UInt8(ascii: "\n"))
  }

  private func appendJSON(_ rejection: Rejection) {
    let reason = [
      "\"line\":\(rejection.line)", "\"column\":\(Self.json(rejection.column))", "\"code\":\(Self.json(rejection.code))",
      "\"message\":\(Self.json(rejection.message))",
    ]
    let record = Self.json(String(decoding: rejection.raw, as: UTF8.self))
    buffer += Array("{\"lade\":{\(reason.joined(separator: ","))},\"record\":\(record)}\n".utf8)
  }

  private static func field(_ text: String, _ separator: String) -> String {
    guard text.contains(where: { $0 == "\"" || $0.isNewline || String($0) == separator }) else { return text }
    return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }

  private static func json(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20: result += String(format: "\\u%04x", scalar.value)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
