import BenchSupport
import Foundation
import Glibc

/// A PostgreSQL server with a folder of its own, as Debian configures one but for the memory that both sides of a benchmark
/// get. It stops, and its folder is removed, at the end.
final class PostgresServer {
  let version: String
  private let programs: String
  private let folder: String
  /// What becomes another user: the server refuses to be root's.
  private let prefix: [String]

  /// The peer's name in a table.
  var name: String { "psql \(version)" }

  /// Starts it. Nil if PostgreSQL isn't installed.
  init?() throws {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    let newest = versions.filter { FileManager.default.isExecutableFile(atPath: "\(root)/\($0)/bin/initdb") }
      .max { (Double($0) ?? 0) < (Double($1) ?? 0) }
    guard let newest else { return nil }
    version = newest
    programs = "\(root)/\(newest)/bin"
    // In /tmp itself: another user can't reach this one's folders.
    var template = Array("/tmp/lade-bench-pg-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if geteuid() == 0, let user = getpwnam("postgres") {
      guard chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
        throw POSIXError(.init(rawValue: errno) ?? .EIO)
      }
      prefix = [
        "/usr/bin/setpriv", "--reuid=\(user.pointee.pw_uid)", "--regid=\(user.pointee.pw_gid)", "--clear-groups",
      ]
    } else {
      prefix = []
    }
    try run("initdb", ["-D", folder + "/data", "-U", "lade", "-A", "trust", "-E", "UTF8", "--locale=C"])
    let options =
      "-c listen_addresses='' -c unix_socket_directories=\(folder) -c shared_buffers=512MB -c max_wal_size=8GB "
      + "-c autovacuum=off"
    try run("pg_ctl", ["-D", folder + "/data", "-w", "-l", folder + "/log", "-o", options, "start"])
  }

  deinit {
    do {
      try run("pg_ctl", ["-D", folder + "/data", "-m", "immediate", "-w", "stop"])
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      say("\(folder) is left: \(error)")
    }
  }

  /// How libpq finds the server.
  var address: String { "host=\(folder) user=lade dbname=postgres" }

  /// Runs a program to its end. Not by `Process`, which would wait for the server too: that has what pg_ctl had open.
  private func run(_ program: String, _ arguments: [String]) throws {
    let command = ["/usr/bin/env", "--chdir=\(folder)"] + prefix + ["\(programs)/\(program)"] + arguments
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    let failure = posix_spawn(&child, command[0], &actions, nil, &words, environ)
    guard failure == 0 else { throw POSIXError(.init(rawValue: failure) ?? .EIO) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw MeasuringError.failed(program: program, status: Int(status >> 8)) }
  }

  /// Runs psql's commands one after the other: one process.
  @discardableResult
  func psql(_ commands: [String]) throws -> MeasuredRun {
    try MeasuredProgram(
      "\(programs)/psql",
      ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "\(address) options='-c client_min_messages=warning'"]
        + commands.flatMap { ["-c", $0] }
    ).run()
  }

  /// Copies a file of people into a table of a schema: one process, as a person would do it.
  func copyPeople(into schema: String, from csv: URL) throws -> MeasuredRun {
    try psql([copy("\"\(schema)\".\"Person\"", from: csv)])
  }

  /// Copies a file into a temporary table, and then from it into the one that is there: new rows, and those that are there
  /// already with the file's values.
  func upsertPeople(into schema: String, from csv: URL) throws -> MeasuredRun {
    let names = Self.columns.split(separator: ", ")
    let changes = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return try psql([
      "CREATE TEMP TABLE incoming AS SELECT \(Self.columns) FROM \"\(schema)\".\"Person\" WHERE false",
      copy("incoming", from: csv),
      """
      INSERT INTO "\(schema)"."Person" (\(Self.columns)) SELECT \(Self.columns) FROM incoming \
      ON CONFLICT (id) DO UPDATE SET \(changes)
      """,
    ])
  }

  private func copy(_ table: String, from csv: URL) -> String {
    "\\copy \(table) (\(Self.columns)) FROM '\(csv.path)' WITH (FORMAT csv, HEADER)"
  }

  private static let columns = "id, name, email, age, balance, created, note"

  /// Reads the whole table.
  func contents(of schema: String) throws -> Contents {
    let lines = try psql([
      "SELECT count(*) FROM \"\(schema)\".\"Person\"",
      """
      SELECT sum(id), sum(octet_length(name)), sum(octet_length(note)), sum(ascii(note)), sum(age), \
      round(sum(balance)::numeric, 2), min(created), max(created), count(DISTINCT email), min(email), max(email) \
      FROM "\(schema)"."Person"
      """,
    ]).output.split(separator: "\n").map(String.init)
    guard lines.count == 2, let rows = Int(lines[0]) else {
      return Contents(rows: 0, sums: "", integrity: lines.joined(separator: "; "))
    }
    return Contents(rows: rows, sums: lines[1], integrity: "ok")
  }
}
