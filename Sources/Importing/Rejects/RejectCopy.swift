import Foundation
import Glibc

/// A second place in which the reject files of a job are kept, for an import that may go on where these aren't. What is said
/// here of a file is durable when a call returns. Calls block.
package protocol RejectCopy: Sendable {
  /// Writes bytes of a file, which ends after them.
  /// - Parameters:
  ///   - name: of the file; a feed's have their folder before it.
  ///   - closing: what the file ends with if nothing follows.
  func write(_ bytes: [UInt8], at offset: Int64, of name: String, closing: [UInt8]) throws
  /// Removes all of a file from an offset on.
  func cut(_ name: String, to length: Int64) throws
  /// Calls `body` with the bytes of a file up to an offset, part by part.
  /// - Throws: also if it is shorter.
  func read(_ name: String, to length: Int64, _ body: ([UInt8]) throws -> Void) throws
}

/// One reject file's copy.
struct RejectFileCopy: Sendable {
  private let copy: any RejectCopy
  private let name: String

  init(_ copy: any RejectCopy, name: String) {
    self.copy = copy
    self.name = name
  }

  func write(_ bytes: [UInt8], at offset: Int64, closing: [UInt8]) throws {
    try copy.write(bytes, at: offset, of: name, closing: closing)
  }

  func cut(to length: Int64) throws { try copy.cut(name, to: length) }

  /// Makes the file what an import goes on with that may have begun elsewhere. What is there of an earlier attempt here is
  /// replaced.
  func restore(_ path: String, to length: Int64) throws {
    let part = path + ".part"
    func failure(_ operation: String) -> MappingError { .file(part, operation, code: errno) }
    let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard descriptor >= 0 else { throw failure("open") }
    defer { close(descriptor) }
    try copy.read(name, to: length) { bytes in
      var written = 0
      while written < bytes.count {
        let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw failure("write") }
        written += count
      }
    }
    guard fdatasync(descriptor) == 0 else { throw failure("sync") }
    guard rename(part, path) == 0 else { throw failure("rename") }
  }
}
