import CLinux
import Glibc

/// A file that somebody goes on holding open for writing.
public struct FileStillWritten: Error, CustomStringConvertible {
  let path: String
  let code: Int32
  /// Which, and why that is known.
  public var description: String { "\(path) is still open for writing (\(code))" }
}

/// Waits until no process holds a file open for writing.
///
/// A program that some test starts has, from the fork until it begins, whatever was open in this process; and a spool leaves
/// alone what somebody may still write to. So a file that a test hands over has no writer only after this.
public func waitForWritersToGo(of path: String) throws {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw FileStillWritten(path: path, code: errno) }
  defer { close(file) }
  // A minute at most.
  for _ in 0..<60_000 {
    switch lade_is_open_for_writing(file) {
    case 0: return
    case 1: usleep(1_000)
    case let code: throw FileStillWritten(path: path, code: -code)
    }
  }
  throw FileStillWritten(path: path, code: EBUSY)
}
