import Foundation
import Glibc
import Testing

@testable import Spool

/// Whether this process may give files away and make devices.
private let isRoot = geteuid() == 0

@Suite("An entry is refused into corrupt/, with a reason,")
struct RefusalTests {
  /// Looks once, and expects `name` refused under `kept`. Returns the reason.
  private func refused(
    _ name: String, as kept: String? = nil, code: String, in spool: TemporarySpool, allowedFolders: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let ledger = JobLedger()
    let intake = try spool.intake(allowedFolders: allowedFolders, ledger: ledger)
    try await intake.rescan()
    let kept = kept ?? (name as NSString).lastPathComponent
    #expect(ledger.asked == 0, sourceLocation: sourceLocation)
    #expect(!spool.exists("incoming/" + name), sourceLocation: sourceLocation)
    #expect(spool.exists("corrupt/" + kept), sourceLocation: sourceLocation)
    let reason = try spool.text("corrupt/\(kept).reason")
    #expect(reason.contains("code: \(code)\n"), "\(reason)", sourceLocation: sourceLocation)
    #expect(intake.status.failures == 0, sourceLocation: sourceLocation)
    #expect(try spool.names("active") == [], sourceLocation: sourceLocation)
    return reason
  }

  private func spoolWithFolders() async throws -> TemporarySpool {
    let spool = try TemporarySpool()
    try await spool.intake(ledger: JobLedger()).rescan()
    return spool
  }

  @Test("if it is a symbolic link, and what it points to stays", arguments: ["gtfs/x.csv", "x.job", "x.csv"])
  func symbolicLink(name: String) async throws {
    let spool = try await spoolWithFolders()
    let target = spool.path + "/target"
    try Data("store: shop\n".utf8).write(to: URL(fileURLWithPath: target))
    try #require(symlink(target, spool.url("incoming/" + name)) == 0)
    let reason = try await refused(name, code: "symbolic-link", in: spool)
    #expect(reason.contains("never followed"))
    let kept = (name as NSString).lastPathComponent
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: spool.url("corrupt/" + kept)) == target)
    #expect(FileManager.default.fileExists(atPath: target))
  }

  @Test("if it is a dangling link or a link to a directory", arguments: ["/nowhere/at/all", "/etc"])
  func otherLinks(target: String) async throws {
    let spool = try await spoolWithFolders()
    try #require(symlink(target, spool.url("incoming/gtfs/x")) == 0)
    _ = try await refused("gtfs/x", code: "symbolic-link", in: spool)
  }

  @Test("if it is a link in the place of a hot folder, which is then made")
  func linkedFolder() async throws {
    let spool = try TemporarySpool()
    try #require(symlink("/etc", spool.url("incoming/gtfs")) == 0)
    let ledger = JobLedger()
    try await spool.intake(ledger: ledger).rescan()
    #expect(try spool.text("corrupt/gtfs.reason").contains("code: symbolic-link"))
    #expect(ledger.asked == 0)
    try spool.drop("incoming/gtfs/x.csv")
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.entries.count == 1)
  }

  @Test("if it has another name somewhere")
  func hardLink() async throws {
    let spool = try await spoolWithFolders()
    let secret = spool.path + "/secret"
    try Data("secret".utf8).write(to: URL(fileURLWithPath: secret))
    try #require(link(secret, spool.url("incoming/gtfs/x.csv")) == 0)
    let reason = try await refused("gtfs/x.csv", code: "hard-link", in: spool)
    #expect(reason.contains("2 names"))
  }

  @Test("if it is a FIFO, which is never waited for", arguments: ["gtfs/x.csv", "x.job", "x"])
  func fifo(name: String) async throws {
    let spool = try await spoolWithFolders()
    try #require(mkfifo(spool.url("incoming/" + name), 0o666) == 0)
    _ = try await refused(name, code: "fifo", in: spool)
  }

  @Test("if it is a socket")
  func socketFile() async throws {
    let spool = try await spoolWithFolders()
    let fd = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(fd) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(spool.url("incoming/x.job").utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    try #require(bound == 0)
    _ = try await refused("x.job", code: "socket", in: spool)
  }

  @Test("if it is a device", .enabled(if: isRoot))
  func device() async throws {
    let spool = try await spoolWithFolders()
    try #require(mknod(spool.url("incoming/gtfs/x.csv"), S_IFCHR | 0o666, dev_t(0x0103)) == 0)
    _ = try await refused("gtfs/x.csv", code: "device", in: spool)
  }

  @Test("if it is somebody else's", .enabled(if: isRoot), arguments: ["gtfs/x.csv", "x.job"])
  func foreign(name: String) async throws {
    let spool = try await spoolWithFolders()
    try spool.drop("incoming/" + name, "store: shop\n")
    try #require(chown(spool.url("incoming/" + name), 12345, 12345) == 0)
    let reason = try await refused(name, code: "foreign-owner", in: spool)
    #expect(reason.contains("chgrp"))
  }

  @Test("but not if it belongs to the spool's group", .enabled(if: isRoot))
  func groupMember() async throws {
    let spool = try await spoolWithFolders()
    try #require(chown(spool.url("incoming/gtfs"), 0, 54321) == 0)
    try spool.drop("incoming/gtfs/x.csv")
    try #require(chown(spool.url("incoming/gtfs/x.csv"), 12345, 54321) == 0)
    let ledger = JobLedger()
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.entries.map(\.ownerUID) == [12345])
  }

  @Test("if the daemon can't read it", .enabled(if: !isRoot))
  func unreadable() async throws {
    let spool = try await spoolWithFolders()
    try spool.drop("incoming/gtfs/x.csv")
    try #require(chmod(spool.url("incoming/gtfs/x.csv"), 0) == 0)
    _ = try await refused("gtfs/x.csv", code: "unreadable", in: spool)
  }

  @Test("if it is in a folder that no recipe is named for, and the known ones are named")
  func unknownFolder() async throws {
    let spool = try await spoolWithFolders()
    try #require(mkdir(spool.url("incoming/gfts"), 0o770) == 0)
    try spool.drop("incoming/gfts/x.csv", "data")
    let reason = try await refused("gfts", code: "unknown-folder", in: spool)
    #expect(reason.contains("gtfs, people"))
    #expect(try spool.text("corrupt/gfts/x.csv") == "data")
  }

  @Test("if it is a directory in a hot folder")
  func directory() async throws {
    let spool = try await spoolWithFolders()
    try #require(mkdir(spool.url("incoming/gtfs/sub"), 0o770) == 0)
    _ = try await refused("gtfs/sub", code: "directory", in: spool)
  }

  @Test("if its name holds control characters", arguments: ["a\nb.csv", "a\u{1B}[2Jb.csv", "a\u{7F}b", "a\u{202E}b"])
  func controlCharacters(name: String) async throws {
    let spool = try await spoolWithFolders()
    try spool.drop("incoming/gtfs/" + name)
    let kept = FileName(name).sanitised
    let reason = try await refused("gtfs/" + name, as: kept, code: "name-control-characters", in: spool)
    #expect(!reason.contains("\u{1B}"))
    #expect(reason.contains("\\u{"))
  }

  @Test("if its name is longer than 200 bytes, also where no ticket names it", arguments: ["gtfs/", ""])
  func longName(folder: String) async throws {
    let spool = try await spoolWithFolders()
    let name = String(repeating: "ü", count: 110)
    try spool.drop("incoming/" + folder + name)
    _ = try await refused(folder + name, as: String(repeating: "ü", count: 100), code: "name-too-long", in: spool)
  }

  @Test("if its name isn't UTF-8")
  func notUTF8() async throws {
    let spool = try await spoolWithFolders()
    let path = Array(spool.url("incoming/gtfs/a").utf8) + [0xFF, 0xFE, 0]
    let fd = path.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { open($0, O_WRONLY | O_CREAT, 0o660) } ?? -1
    }
    try #require(fd >= 0)
    close(fd)
    _ = try await refused("gtfs/a", as: "a__", code: "name-not-utf8", in: spool)
    #expect(try spool.names("incoming/gtfs") == [])
  }

  @Test("if it is a ticket that can't be understood, and the reason has the line")
  func ticket() async throws {
    let spool = try await spoolWithFolders()
    try spool.drop("incoming/x.csv")
    try spool.drop("incoming/x.job", "store: shop\nsorce: x.csv\n")
    let reason = try await refused("x.job", code: "ticket", in: spool)
    #expect(reason.contains("Line 2, column 1: there is no key `sorce`; did you mean `source`?"))
    #expect(spool.exists("incoming/x.csv"))
  }

  @Test("if it is a ticket of more than 64 KiB, which isn't even read")
  func largeTicket() async throws {
    let spool = try await spoolWithFolders()
    try spool.drop("incoming/x.job", "#" + String(repeating: "x", count: 64 * 1024))
    _ = try await refused("x.job", code: "ticket", in: spool)
  }

  @Test(
    "if its source isn't there, is itself, or is out of bounds",
    arguments: [
      ("nothing.csv", "source-missing"), ("x.job", "source-unacceptable"), ("/etc/passwd", "source-outside"),
      ("../incoming/x.job", "ticket"), ("gtfs", "source-directory"),
    ])
  func source(source: String, code: String) async throws {
    let spool = try await spoolWithFolders()
    try spool.drop("incoming/x.job", "store: shop\nsource: \(source)\n")
    _ = try await refused("x.job", code: code, in: spool, allowedFolders: [spool.path + "/exports"])
  }

  @Test("if its source is a link, and both are", arguments: ["symbolic", "hard", "fifo"])
  func linkedSource(kind: String) async throws {
    let spool = try await spoolWithFolders()
    let secret = spool.path + "/secret"
    try Data("secret".utf8).write(to: URL(fileURLWithPath: secret))
    let path = spool.url("incoming/x.csv")
    let made =
      switch kind {
      case "symbolic": symlink(secret, path)
      case "hard": link(secret, path)
      default: mkfifo(path, 0o666)
      }
    try #require(made == 0)
    try spool.drop("incoming/x.job", "store: shop\nsource: x.csv\n")
    let ledger = JobLedger()
    try await spool.intake(ledger: ledger).rescan()
    #expect(ledger.asked == 0)
    #expect(try spool.text("corrupt/x.job.reason").contains("code: source-"))
    #expect(try spool.names("active") == [])
  }

  @Test(
    "if its source lies in an allowed folder by way of a link", arguments: ["link/x.csv", "inner/link.csv", "two.csv"])
  func allowedFolderLinks(source: String) async throws {
    let spool = try await spoolWithFolders()
    let exports = spool.path + "/exports"
    for folder in ["/exports", "/exports/inner", "/elsewhere"] {
      try #require(mkdir(spool.path + folder, 0o755) == 0)
    }
    try Data("secret".utf8).write(to: URL(fileURLWithPath: spool.path + "/elsewhere/x.csv"))
    try #require(symlink("../elsewhere", exports + "/link") == 0)
    try #require(symlink("../../elsewhere/x.csv", exports + "/inner/link.csv") == 0)
    try #require(link(spool.path + "/elsewhere/x.csv", exports + "/two.csv") == 0)
    try spool.drop("incoming/x.job", "store: shop\nsource: \(exports)/\(source)\n")
    let reason = try await refused(
      "x.job", code: source == "two.csv" ? "source-hard-link" : "source-symbolic-link", in: spool,
      allowedFolders: [exports])
    #expect(reason.contains("link"))
    for path in ["link/x.csv", "inner/link.csv", "../elsewhere/x.csv"] {
      #expect(throws: SpoolError.self) {
        try AllowedFolder.placeByComponent(path, beneath: DirectoryHandle(trustedPath: exports))
      }
    }
  }

  @Test("if the daemon says so")
  func daemon() async throws {
    let spool = try await spoolWithFolders()
    try spool.drop("incoming/x.job", "store: shopp\n")
    let ledger = JobLedger()
    ledger.beforeAnswering { _, _ in
      throw SpoolRefusal.unacceptable(what: "there is no store “shopp”", advice: "Did you mean “shop”?")
    }
    try await spool.intake(ledger: ledger).rescan()
    #expect(try spool.text("corrupt/x.job.reason").contains("there is no store “shopp”. Did you mean “shop”?"))
    #expect(!spool.exists("incoming/x.job"))
  }

  @Test("if it has a name that was refused before, under another name")
  func twice() async throws {
    let spool = try await spoolWithFolders()
    for _ in 1...3 {
      try spool.drop("incoming/x.job", "nonsense")
      try await spool.intake(ledger: JobLedger()).rescan()
    }
    #expect(
      try spool.names("corrupt")
        == ["x.job", "x.job.2", "x.job.2.reason", "x.job.3", "x.job.3.reason", "x.job.reason"])
  }

  @Test("also across file systems", .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm")))
  func acrossFileSystems() async throws {
    let spool = try TemporarySpool()
    let elsewhere = try Elsewhere()
    try Data("bad".utf8).write(to: URL(fileURLWithPath: elsewhere.path + "/x.csv"))
    try #require(symlink("/etc/passwd", elsewhere.path + "/y.csv") == 0)
    let intake = try spool.intake(ledger: JobLedger())
    let place = SpoolPlace(directory: try DirectoryHandle(trustedPath: elsewhere.path), recipe: "gtfs")
    try await intake.refuse(FileName("x.csv"), in: place, .nameNotUTF8)
    try await intake.refuse(FileName("y.csv"), in: place, .symbolicLink)
    #expect(try spool.text("corrupt/x.csv") == "bad")
    #expect(spool.exists("corrupt/y.csv.reason"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [".refused-y.csv"])
  }
}

/// A directory on another file system than the temp directory's.
final class Elsewhere: Sendable {
  let path: String

  init() throws {
    var template = Array("/dev/shm/lade-spool-XXXXXX".utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) })
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path): \(error)") }
  }
}
