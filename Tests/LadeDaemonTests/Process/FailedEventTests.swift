import Foundation
import Testing

/// Rule 10 (ARCHITECTURE.md): where what wakes the daemon up fails, it doesn't wait for it in silence.
@Suite("A daemon", .startsDaemons)
struct FailedEventTests {
  private static let always: Int64 = 1_000_000_000

  @Test("that can't read the kernel's events takes what is dropped nevertheless")
  func eventsThatCannotBeRead() async throws {
    let folder = try DaemonFolder.withMembers("rescan_interval: 1h\nintake: { settle: 100ms }")
    let shim = try FaultShim(in: folder, watch: ["read anon_inode:inotify"])
    let daemon = try folder.launch(shim.environment)
    try await daemon.ready()
    _ = try await folder.scanned()
    try shim.arm(.init(call: "read", number: 1, verb: .error, more: Self.always))
    try folder.drop("number,name\n1,Ada\n", as: "ada.csv", into: "members")
    #expect(try await folder.job(of: "ada.csv").state == .completed)
    #expect(try shim.hits() > 0)
    try shim.arm(nil)
    try folder.drop("number,name\n2,Grace\n", as: "grace.csv", into: "members")
    #expect(try await folder.job(of: "grace.csv").state == .completed)
    try await daemon.stop()
  }

  @Test("whose client left before it was accepted serves the next one")
  func abortedConnection() async throws {
    let folder = try DaemonFolder.withMembers()
    let shim = try FaultShim(in: folder, watch: ["accept4 socket:"], error: ECONNABORTED)
    let daemon = try folder.launch(shim.environment)
    try await daemon.ready()
    try shim.arm(.init(call: "accept4", number: 1, verb: .error, more: 2))
    #expect(try await folder.ladectl("status").status == 0)
    #expect(try shim.hits() == 3)
    try await daemon.stop()
  }

  @Test("that can't accept connections any more ends with the status of an error, and is started again")
  func acceptFails() async throws {
    let folder = try DaemonFolder.withMembers()
    let shim = try FaultShim(in: folder, watch: ["accept4 socket:"], error: EPERM)
    let daemon = try folder.launch(shim.environment)
    try await daemon.ready()
    try shim.arm(.init(call: "accept4", number: 1, verb: .error))
    _ = try await folder.ladectl("status")
    #expect(try await daemon.ended() == .exit(70))
  }

  @Test("that can't read what it has just backed up makes the backup again")
  func unreadableBackup() async throws {
    let folder = try DaemonFolder.withMembers("retry: { first: 100ms }")
    let shim = try FaultShim(in: folder, watch: ["pread \(folder.path)/state/backups/main/.job-1.tmp/packed$"])
    let daemon = try folder.launch(shim.environment)
    try await daemon.ready()
    try shim.arm(.init(call: "pread", number: 1, verb: .error))
    #expect(try await folder.ladectl("store", "backup", "main", "--wait").status == 0)
    #expect(try shim.hits() == 1)
    let job = try await folder.job(1)
    #expect(job.state == .completed && job.attempt == 2)
    try await daemon.stop()
  }
}
