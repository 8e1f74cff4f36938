import Foundation
import Glibc
import Testing

@testable import Spool

/// Something that stands in a spool by malice or by accident, and what has to become of it.
struct Attack: Sendable, CustomTestStringConvertible {
  /// What has to become of an entry.
  enum Fate: Sendable {
    /// It is in `corrupt/` under that name, with a reason of that code, and no job was made.
    case refused(as: String, code: String, says: String)
    /// It is where it was put, and no job was made.
    case leftAlone
    /// It has become one job, and stands in `active/` under that name; with these contents, if they are given.
    case taken(as: String, text: String?)
  }

  let testDescription: String
  /// Its name in `incoming/`.
  let entry: String
  let fate: Fate
  let needsRoot: Bool
  let allowed: [String]
  let make: @Sendable (HostileSpool) throws -> Void

  /// - Parameters:
  ///   - allowed: allowed folders; `.` stands for the folder that the spool is in.
  init(
    _ description: String, _ entry: String, _ fate: Fate, needsRoot: Bool = false, allowed: [String] = [],
    make: @escaping @Sendable (HostileSpool) throws -> Void
  ) {
    (testDescription, self.entry, self.fate) = (description, entry, fate)
    (self.needsRoot, self.allowed, self.make) = (needsRoot, allowed, make)
  }

  /// A ticket `x.job` that is refused, beside a good `x.csv`.
  init(
    _ description: String, ticket: String, code: String = "ticket", says: String = "", needsRoot: Bool = false,
    allowed: [String] = [], before: @escaping @Sendable (HostileSpool) throws -> Void = { _ in }
  ) {
    self.init(
      description, "x.job", .refused(as: "x.job", code: code, says: says), needsRoot: needsRoot, allowed: allowed
    ) { spool in
      try spool.spool.drop("incoming/x.csv", "data")
      try before(spool)
      try spool.spool.drop("incoming/x.job", ticket.replacing("$ROOT", with: spool.spool.path))
    }
  }
}

/// A spool with a secret beside it that nothing may carry in.
final class HostileSpool: Sendable {
  static let isRoot = geteuid() == 0
  /// A group that the spool belongs to, and somebody who is in it and somebody who isn't.
  static let (group, member, stranger): (UInt32, UInt32, UInt32) = (54_321, 12_345, 23_456)
  static let secret = "the secret\n"

  let spool: TemporarySpool
  var secretPath: String { spool.path + "/secret" }

  init() throws {
    spool = try TemporarySpool()
    try Data(Self.secret.utf8).write(to: URL(fileURLWithPath: secretPath))
    try #require(chmod(secretPath, 0o600) == 0)
    // So that other users can get at it.
    try #require(chmod(spool.path, 0o755) == 0)
    guard Self.isRoot else { return }
    for folder in ["incoming", "tmp", "incoming/gtfs", "incoming/people"] {
      if !spool.exists(folder) { try #require(mkdir(spool.url(folder), 0o2770) == 0) }
      try #require(chown(spool.url(folder), 0, Self.group) == 0)
      try #require(chmod(spool.url(folder), 0o2770) == 0)
    }
  }

  func entry(_ name: String) -> String { spool.url("incoming/" + name) }

  /// Makes an entry whose name isn't text.
  func create(bytes: [UInt8]) throws {
    let path = (Array(entry("").utf8) + bytes + [0]).map { CChar(bitPattern: $0) }
    let number = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o660)
    try #require(number >= 0)
    close(number)
  }

  /// A sparse file of this size without contents.
  func sparse(_ path: String, bytes: Int64) throws {
    let number = open(path, O_WRONLY | O_CREAT, 0o660)
    try #require(number >= 0)
    defer { close(number) }
    try #require(ftruncate(number, off_t(bytes)) == 0, "errno \(errno)")
  }

  /// Runs a shell's command as another user, who is in the spool's group.
  func run(_ command: String, as user: UInt32 = HostileSpool.member, group: UInt32 = HostileSpool.group) throws {
    let arguments = [
      "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups", "/bin/sh", "-c",
      "umask 007; " + command,
    ]
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin"), nil]
    defer { for text in words + variables { free(text) } }
    var pid: pid_t = 0
    try #require(posix_spawn(&pid, arguments[0], nil, nil, &words, &variables) == 0)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    try #require(status == 0, "\(command)")
  }

  /// Everything that was taken or refused as a file, with its contents, if it is small.
  func contents(of folder: String) throws -> [String: String] {
    try spool.names(folder).reduce(into: [:]) { contents, name in
      var status = stat()
      let path = spool.url(folder + "/" + name)
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size < 1 << 20 else { return }
      contents[name] = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
  }
}
