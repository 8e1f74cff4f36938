import ControlAPI
import Glibc
import Importing

/// A copy of a file in the spool's `tmp/`, for a daemon that can't open the original: a service sees no home directories and has
/// a private `/tmp`. Members of the spool's group may write there, and the daemon reads through that group.
struct SpoolCopy: Sendable {
  private static let piece = 1 << 20

  private let folder: String
  /// The copy, under the file's own name.
  let path: String

  /// Copies the file; a database with what is in the write-ahead log and, for a Core Data store, in files of values beside it. Leaves nothing behind on failure.
  /// - Returns: nil if the file can't be read or `tmp/` can't be written to.
  /// - Throws: ``LocalFailure/cantReadLog(path:reason:)``.
  init?(of source: String, inSpool spool: String) throws {
    let input = open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard input >= 0 else { return nil }
    defer { close(input) }
    var status = stat()
    guard fstat(input, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.init(of: input, named: source.split(separator: "/").last.map(String.init) ?? "file", inSpool: spool)
    let copy = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    guard copy >= 0 else {
      remove()
      return nil
    }
    do throws(ReaderError) {
      defer { close(copy) }
      try SQLiteLog.complete(copy: copy, of: input, at: source)
    } catch {
      remove()
      throw LocalFailure.cantReadLog(path: source, reason: "\(error)")
    }
    if CoreDataCopy.hasFiles(besideStore: source), !CoreDataCopy.complete(copy: path, from: source) {
      remove()
      return nil
    }
  }

  /// Copies standard input to its end.
  /// - Returns: nil if it can't be read or `tmp/` can't be written to; `errno` says why.
  init?(ofStandardInputInSpool spool: String) {
    self.init(of: STDIN_FILENO, named: "stdin", inSpool: spool)
  }

  private init?(of input: Int32, named name: String, inSpool spool: String) {
    // A dot name marks it as unfinished. The folder passes on the spool's group.
    folder = "\(spool)/tmp/.ladectl-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    path = folder + "/" + name
    guard mkdir(folder, 0o750) == 0 else { return nil }
    guard Self.copy(input, to: path) else {
      remove()
      return nil
    }
  }

  /// Removes the copy; keeps `errno`.
  func remove() {
    let code = errno
    unlink(path)
    rmdir(folder)
    errno = code
  }

  private static func copy(_ input: Int32, to path: String) -> Bool {
    let output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
    guard output >= 0 else { return false }
    defer { close(output) }
    var bytes = [UInt8](repeating: 0, count: piece)
    while true {
      let count = read(input, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 }
      var written = 0
      while written < count {
        let more = bytes.withUnsafeBytes { write(output, $0.baseAddress.map { $0 + written }, count - written) }
        if more < 0, errno == EINTR { continue }
        guard more > 0 else { return false }
        written += more
      }
    }
  }
}

extension ControlClient {
  /// Sends a request with the path of a copy, after the daemon couldn't open the file itself. The daemon has read or copied it by
  /// the time it answers.
  /// - Returns: nil if the file can't be copied.
  /// - Throws: ``LocalFailure/noSuchFile(path:)``, ``LocalFailure/cantReadLog(path:reason:)``, or what the request throws.
  func withCopy<Answer: Sendable>(
    of source: String, _ request: (_ path: String) async throws -> Answer
  ) async throws -> Answer? {
    if access(source, F_OK) != 0, errno == ENOENT { throw LocalFailure.noSuchFile(path: source) }
    guard let copy = try SpoolCopy(of: source, inSpool: try await status().spool) else { return nil }
    defer { copy.remove() }
    return try await request(copy.path)
  }
}
