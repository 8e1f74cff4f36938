import Foundation
import Glibc
import Synchronization

/// PgBouncer in transaction mode before a server of tests, on a Unix socket of its own. Gone with this.
package final class TransactionPooler: Sendable {
  /// Debian's program; nil where it isn't installed.
  package static let program: String? = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  package static let absence = "PgBouncer isn't installed: run make deps"

  /// How many sessions of the server all programs of a test have, if all tests are to go through a pooler.
  package static let sizeForAll: Int? = ProcessInfo.processInfo.environment["LADE_TEST_POOLER"].flatMap { Int($0) }

  package let folder: String
  private let command: [String]
  private let child = Mutex<ChildProcess?>(nil)

  /// - Parameters:
  ///   - server: the folder of the server.
  ///   - prefix: what becomes the user who runs the server.
  ///   - size: how many sessions of the server there are for a database and user.
  init(before server: String, _ prefix: [String], size: Int) throws {
    guard let program = Self.program else {
      throw ProgramFailure(program: "pgbouncer", arguments: [], what: Self.absence, error: "")
    }
    folder = server + "/b" + UUID().uuidString.prefix(8).lowercased()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    var status = stat()
    guard stat(server, &status) == 0, chown(folder, status.st_uid, status.st_gid) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    try """
    "lade" ""
    "reader" "sesame-open"

    """.write(toFile: folder + "/users", atomically: true, encoding: .utf8)
    try """
    [databases]
    * = host=\(server) port=5432
    [pgbouncer]
    listen_addr =
    listen_port = 5432
    unix_socket_dir = \(folder)
    auth_type = trust
    auth_file = \(folder)/users
    pool_mode = transaction
    default_pool_size = \(size)
    max_client_conn = 800
    server_login_retry = 1
    query_wait_timeout = 15
    logfile = \(folder)/log

    """.write(toFile: folder + "/settings", atomically: true, encoding: .utf8)
    command = prefix + [program, folder + "/settings"]
    try start()
  }

  deinit { stop() }

  /// A connection string for a user.
  package func address(_ user: String = "lade") -> String { "host=\(folder) user=\(user) dbname=postgres" }

  /// What it has written.
  package var log: String { get throws { try String(contentsOfFile: folder + "/log", encoding: .utf8) } }

  /// Ends it, and all connections through it, at once.
  package func stop() {
    child.withLock { child in
      child?.send(SIGKILL)
      child = nil
    }
    for name in [".s.PGSQL.5432", ".s.PGSQL.5432.lock"] { unlink("\(folder)/\(name)") }
  }

  /// Starts it, and waits until it takes connections.
  package func start() throws {
    let ended = Atomic(false)
    let new = try ChildProcess(
      URL(fileURLWithPath: command[0]), Array(command.dropFirst()),
      environment: ["LC_ALL": "C", "PATH": "/usr/bin:/bin"], files: folder + "/run-\(UUID().uuidString)"
    ) { _ in ended.store(true, ordering: .releasing) }
    while !isThere {
      guard !ended.load(ordering: .acquiring) else {
        throw ProgramFailure(
          program: "pgbouncer", arguments: [], what: "it ended",
          error: try String(contentsOfFile: new.error, encoding: .utf8))
      }
      usleep(5000)
    }
    child.withLock { $0 = new }
  }

  private var isThere: Bool {
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array((folder + "/.s.PGSQL.5432").utf8)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }
}
