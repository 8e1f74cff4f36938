import ControlServer
import Foundation
import Glibc
@testable import LadeDaemon
import ManagedObjects
import Spool
import TestSupport
import Testing

@Suite("The status with which a daemon ends that can't start", .startsDaemons)
struct ExitStatusTests {
  /// After these, another start won't help: wrong options, no store, limits, unusable, no permission, wrong configuration.
  private static let lasting: Set<Int32> = [64, 65, 71, 73, 77, 78]

  private static let repository = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.repository.appendingPathComponent(path), encoding: .utf8)
  }

  @Test(
    "keeps systemd from starting it again exactly where that wouldn't help, and both units and the manual say so",
    arguments: ["laded.service", "laded@.service"])
  func units(_ unit: String) throws {
    let settings = try text("systemd/" + unit).split(separator: "\n")
    func value(_ key: String) throws -> Substring {
      try #require(settings.first { $0.hasPrefix(key + "=") }).dropFirst(key.count + 1)
    }
    #expect(Set(try value("RestartPreventExitStatus").split(separator: " ").compactMap { Int32($0) }) == Self.lasting)
    // So that what passes is waited for without end.
    let pause = try #require(Int(try value("RestartSec").dropLast()))
    let interval = try #require(Int(try value("StartLimitIntervalSec").dropLast()))
    #expect(pause * (try #require(Int(try value("StartLimitBurst")))) > interval)
    let manual = try text("docs/laded.md")
    for status in Self.lasting.union([0, 70, 74, 75]) { #expect(manual.contains("\n- `\(status)`: "), "\(status)") }
  }

  @Test("is 74 or 75 for what may pass, and another one for what lasts")
  func statuses() {
    func status(_ error: any Error) -> Int32 {
      DaemonError.store(name: "main", reason: "", cause: PathDiagnosis(NSTemporaryDirectory(), error).cause).exitStatus
    }
    func status(_ kind: StoreFailure.Kind) -> Int32 {
      status(ManagedObjectError.store(StoreFailure(kind, path: "/s", message: "")))
    }
    for kind in [StoreFailure.Kind.busy, .full, .io, .outOfMemory, .interrupted, .cannotOpen, .other] {
      #expect(status(kind) == 74, "\(kind)")
    }
    for kind in [StoreFailure.Kind.corrupt, .notAStore] { #expect(status(kind) == 65, "\(kind)") }
    #expect(status(.permission) == 77 && status(.readOnly) == 73)
    let codes: [Int32: Int32] = [
      ENOSPC: 74, EDQUOT: 74, EIO: 74, EMFILE: 74, ENOMEM: 74, ESTALE: 74, EBUSY: 75, EADDRINUSE: 75, ENOENT: 73,
      EROFS: 73, ENOTDIR: 73, EACCES: 77, EPERM: 77,
    ]
    for (code, expected) in codes {
      #expect(status(SpoolError.system(call: "open", path: "/s", code: code)) == expected, "\(code)")
      #expect(status(SystemFailure(code: code)) == expected, "\(code)")
      let socket = ControlSocketError.failed(operation: "bind", path: "/s", errno: code)
      #expect(DaemonError(socket).exitStatus == expected, "\(code)")
      let port = LoopbackError.failed(operation: "listen", address: "127.0.0.1:1", .metrics, errno: code)
      #expect(DaemonError(port).exitStatus == expected, "\(code)")
    }
    #expect(DaemonError(LoopbackError.inUse(address: "127.0.0.1:1", .metrics)).exitStatus == 75)
    #expect(DaemonError(LoopbackError.noInternet(address: "127.0.0.1:1", .metrics)).exitStatus == 77)
    #expect(DaemonError(ControlSocketError.notASocket(path: "/s")).exitStatus == 73)
    #expect(DaemonError.limits("").exitStatus == 71)
  }

  @Test(
    "is 74 with a full disk, and the daemon starts when there is room",
    .enabled(if: PrivateMounts.arePossible, "it takes root, for it mounts"))
  func fullDisk() async throws {
    let folder = try DaemonFolder(model: Members.model)
    let mounts = try await PrivateMounts(in: folder, "mkdir state; mount -t tmpfs -o size=24m lade state")
    try await mounts.run("head -c 64m /dev/zero >state/ballast || true")
    let first = try folder.launch(by: mounts.prefix)
    #expect(try await first.ended() == .exit(74))
    #expect(try first.log.contains(folder.file("state")))
    try await mounts.run("rm state/ballast")
    let second = try await folder.start(by: mounts.prefix)
    try await second.stop()
  }

  @Test("is 73 where something else stands in the place of the spool")
  func notADirectory() async throws {
    let folder = try DaemonFolder(model: Members.model)
    try folder.write("no directory", to: "spool")
    let daemon = try folder.launch()
    #expect(try await daemon.ended() == .exit(73))
    #expect(try daemon.log.contains("the spool \(folder.file("spool")) can't be used"))
  }

  @Test("is 73 where a folder stands in the place of a store")
  func folderForStore() async throws {
    let folder = try DaemonFolder(model: Members.model)
    let store = folder.file("main.sqlite")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
    let daemon = try folder.launch()
    #expect(try await daemon.ended() == .exit(73))
    #expect(try daemon.log.contains("\(store) is a folder, and should be the store's file"))
  }
}
