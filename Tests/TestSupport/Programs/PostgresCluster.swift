import Foundation
import Glibc
import Synchronization

/// A PostgreSQL server, on a Unix socket in a folder of its own. Gone with this.
///
/// With `LADE_TEST_POOLER=8` in the environment, its addresses are those of a pooler in transaction mode with so many sessions.
package final class PostgresCluster: Sendable {
  /// The folder with Debian's programs; nil where they aren't installed.
  package static let programs: String? = {
    let root = "/usr/lib/postgresql"
    guard let versions = try? FileManager.default.contentsOfDirectory(atPath: root) else { return nil }
    return versions.sorted { Double($0) ?? 0 > Double($1) ?? 0 }.map { "\(root)/\($0)/bin" }
      .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
  }()

  package static let absence: String =
    "PostgreSQL isn't installed: run make deps"

  /// In memory where there is plenty: tests make hundreds of thousands of files of tables, which a disk takes minutes to remove.
  private static let place: String = {
    var space = statvfs()
    guard statvfs("/dev/shm", &space) == 0, access("/dev/shm", W_OK) == 0 else { return "/tmp" }
    return UInt64(space.f_bavail) * UInt64(space.f_frsize) >= 8 << 30 ? "/dev/shm" : "/tmp"
  }()

  package let folder: String
  private let programs: String
  /// What becomes another user: the server refuses to be root's.
  private let prefix: [String]
  /// What its users go through; nil where they reach the server itself.
  private let between: TransactionPooler?
  /// What some of its users go through.
  private let beside = Mutex<TransactionPooler?>(nil)

  package init() throws {
    guard let programs = Self.programs else {
      throw ProgramFailure(program: "initdb", arguments: [], what: Self.absence, error: "")
    }
    self.programs = programs
    // Not in the folder of a test, which another user can't reach.
    var template = Array("\(Self.place)/lade-pg-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    folder = String(cString: made)
    var prefix: [String] = []
    if geteuid() == 0 {
      guard let user = getpwnam("postgres") ?? getpwnam("nobody") else { throw POSIXError(.ENOENT) }
      let (id, group) = (user.pointee.pw_uid, user.pointee.pw_gid)
      guard chown(folder, id, group) == 0, chmod(folder, 0o755) == 0 else {
        throw POSIXError(.init(rawValue: errno) ?? .EIO)
      }
      prefix = ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(group)", "--clear-groups"]
    }
    self.prefix = prefix
    between = try TransactionPooler.sizeForAll.map { [folder] in
      try TransactionPooler(before: folder, prefix, size: $0)
    }
    let rules = folder + "/rules"
    try """
    local all reader scram-sha-256
    local all all trust

    """.write(toFile: rules, atomically: true, encoding: .utf8)
    try wait(
      "initdb", ["-D", folder + "/data", "-U", "lade", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"])
    try wait("pg_ctl", ["-D", folder + "/data", "-w", "-l", folder + "/log", "-o", options, "start"])
  }

  private var options: String {
    "-c listen_addresses='' -c unix_socket_directories=\(folder) -c fsync=off -c max_connections=500 -c hba_file=\(folder)/rules"
  }

  deinit { remove() }

  private func remove() {
    between?.stop()
    beside.withLock { $0?.stop() }
    do {
      try wait("pg_ctl", ["-D", folder + "/data", "-m", "immediate", "-w", "stop"])
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      print("couldn't remove \(folder): \(error)")
    }
  }

  // MARK: The server that tests share

  private static let sharedCluster = Mutex<PostgresCluster?>(nil)

  /// The server on which tests have schemas of their own. It ends with the process.
  package static func shared() throws -> PostgresCluster {
    try sharedCluster.withLock { shared in
      if let shared { return shared }
      let new = try PostgresCluster()
      shared = new
      atexit { PostgresCluster.sharedCluster.withLock { $0 }?.remove() }
      return new
    }
  }

  /// The name of a schema that doesn't exist yet.
  package static func newSchema() -> String {
    "test_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "_")
  }

  /// A connection string for a user.
  package func address(_ user: String = "lade") -> String { between?.address(user) ?? direct(user) }

  /// A connection string for a user who needs the server itself.
  package func direct(_ user: String = "lade") -> String { "host=\(folder) user=\(user) dbname=postgres" }

  /// A pooler before it that tests share, with fewer sessions than they have connections.
  package func pooler() throws -> TransactionPooler {
    try beside.withLock { pooler in
      if let pooler { return pooler }
      let new = try self.pooler(size: 6)
      pooler = new
      return new
    }
  }

  /// A pooler of one's own before it.
  /// - Parameter size: how many sessions its users have.
  package func pooler(size: Int) throws -> TransactionPooler {
    try TransactionPooler(before: folder, prefix, size: size)
  }

  /// Runs statements as the owner of everything.
  @discardableResult
  package func sql(_ statements: String) async throws -> String {
    try await run("psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", direct(), "-c", statements])
  }

  package func stop() async throws { try await run("pg_ctl", ["-D", folder + "/data", "-m", "fast", "-w", "stop"]) }

  package func start() async throws {
    try await run("pg_ctl", ["-D", folder + "/data", "-w", "-l", folder + "/log", "-o", options, "start"])
  }

  /// Runs a program and waits for its end.
  private func wait(_ program: String, _ arguments: [String]) throws {
    let command = prefix + ["\(programs)/\(program)"] + arguments
    let ended = DispatchSemaphore(value: 0)
    let ending = Mutex<ChildProcess.Ending?>(nil)
    let child = try ChildProcess(
      URL(fileURLWithPath: command[0]), Array(command.dropFirst()),
      environment: ["LC_ALL": "C", "PATH": "/usr/bin:/bin"], files: folder + "/run-\(UUID().uuidString)"
    ) { how in
      ending.withLock { $0 = how }
      ended.signal()
    }
    ended.wait()
    guard let how = ending.withLock({ $0 }), how == .exit(0) else {
      throw ProgramFailure(
        program: program, arguments: arguments, what: "it ended badly",
        error: try String(contentsOfFile: child.error, encoding: .utf8))
    }
  }

  @discardableResult
  private func run(_ program: String, _ arguments: [String]) async throws -> String {
    let command = prefix + ["\(programs)/\(program)"] + arguments
    let output = try await ProgramOutput.of(
      URL(fileURLWithPath: command[0]), Array(command.dropFirst()),
      environment: ["LC_ALL": "C", "PATH": "/usr/bin:/bin"], files: folder + "/run-\(UUID().uuidString)")
    guard output.status == 0 else {
      throw ProgramFailure(
        program: program, arguments: arguments, what: "status \(output.status)\n\(output.text)", error: output.error)
    }
    return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
