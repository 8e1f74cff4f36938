import CSystemd
import Glibc

/// Writes to systemd's journal with fields, by sd_journal_sendv(3). Any thread may call this.
package enum JournalWriter {
  /// syslog(3)'s priorities.
  package enum Priority: Int, Sendable {
    case emergency, alert, critical, error, warning, notice, info, debug
  }

  /// Whether stderr is connected to the journal, so that entries with fields are better than lines. See systemd.exec(5),
  /// `$JOURNAL_STREAM`.
  package static var isJournalStream: Bool {
    guard let stream = getenv("JOURNAL_STREAM").map({ String(cString: $0) }) else { return false }
    let numbers = stream.split(separator: ":", omittingEmptySubsequences: false).map { UInt64($0) }
    var status = stat()
    guard numbers.count == 2, let device = numbers[0], let inode = numbers[1], fstat(STDERR_FILENO, &status) == 0
    else { return false }
    return device == UInt64(status.st_dev) && inode == UInt64(status.st_ino)
  }

  /// Writes one entry. The values of `fields` may be any text, with line breaks; their names are upper case.
  /// Does nothing without a journal. Throws `SystemdError`.
  package static func send(message: String, priority: Priority, fields: [String: String] = [:]) throws {
    var entries = ["MESSAGE=\(message)", "PRIORITY=\(priority.rawValue)"]
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      guard isFieldName(name) else { throw SystemdError.journalFieldName(name) }
      entries.append("\(name)=\(value)")
    }
    let code = withVectors(of: entries.map { Array($0.utf8) }) { sd_journal_sendv($0.baseAddress, Int32($0.count)) }
    guard code >= 0 else { throw SystemdError.journal(code: -code) }
  }

  private static func isFieldName(_ name: String) -> Bool {
    guard let first = name.utf8.first, name.utf8.count <= 64 else { return false }
    let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
    return letters.contains(first)
      && name.utf8.allSatisfy {
        letters.contains($0) || $0 == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
  }

  /// Calls `body` with vectors that point into one buffer with all entries.
  private static func withVectors(
    of entries: [[UInt8]], _ body: (UnsafeBufferPointer<iovec>) -> Int32
  ) -> Int32 {
    var bytes = entries.flatMap { $0 }
    return bytes.withUnsafeMutableBytes { buffer in
      var offset = 0
      let vectors = entries.map { entry in
        defer { offset += entry.count }
        return iovec(iov_base: buffer.baseAddress.map { $0 + offset }, iov_len: entry.count)
      }
      return vectors.withUnsafeBufferPointer(body)
    }
  }
}
