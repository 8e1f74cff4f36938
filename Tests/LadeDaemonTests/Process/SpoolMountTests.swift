import ControlAPI
import Foundation
import Testing

/// Spools on file systems of all kinds, mounted for one test each.
@Suite(
  "A daemon's spool", .startsDaemons, .enabled(if: PrivateMounts.arePossible, "it takes root, for it mounts"))
struct SpoolMountTests {
  @Test("may have incoming/ on another file system than active/, for what is taken and what is refused")
  func incomingElsewhere() async throws {
    let folder = try DaemonFolder.withMembers()
    let mounts = try await PrivateMounts(in: folder, "mkdir -p spool/incoming; mount -t tmpfs lade spool/incoming")
    let daemon = try await folder.start(by: mounts.prefix)
    try mounts.drop("number,name\n1,Ada\n", as: "hot.csv", into: "members")
    try mounts.drop("number,name\n2,Bob\n", as: "cold.csv", into: "")
    try mounts.drop("{entity: Member, source: cold.csv}", as: "cold.job", into: "")
    try mounts.drop("nonsense", as: "bad.job", into: "")
    try await mounts.run("ln -s /etc/passwd spool/incoming/members/link.csv")
    for source in ["hot.csv", "cold.csv"] { #expect(try await folder.job(of: source).state == .completed) }
    #expect(try await folder.count("Member") == 2)
    #expect(try mounts.names(in: "spool/incoming/members") == [".refused-link.csv"])
    #expect(try folder.text("spool/corrupt/bad.job") == "nonsense")
    #expect(try folder.names(in: "spool/corrupt") == ["bad.job", "bad.job.reason", "link.csv.reason"])
    try await daemon.stop()
    #expect(try mounts.names(in: "spool/incoming") == ["members"])
    #expect(try folder.names(in: "spool/active") == [])
  }

  @Test(
    "waits with a file for which there is no room in active/, says so once, takes others, and that when there is room")
  func noRoom() async throws {
    let folder = try DaemonFolder.withMembers()
    let mounts = try await PrivateMounts(
      in: folder, "mkdir -p spool/active; mount -t tmpfs -o size=1m lade spool/active")
    let daemon = try await folder.start(by: mounts.prefix)
    let rows = (1...1000).map { "\($0)," + String(repeating: "n", count: 2000) + "\n" }.joined()
    try mounts.drop("number,name\n" + rows, as: "large.csv", into: "members")
    try mounts.drop("number,name\n0,Ada\n", as: "small.csv", into: "members")
    #expect(try await folder.job(of: "small.csv").state == .completed)
    try await folder.expectToldOnce("has room for", by: daemon)
    #expect(try mounts.names(in: "spool/incoming/members") == ["large.csv"])
    try await mounts.run("mount -o remount,size=64m spool/active")
    #expect(try await folder.job(of: "large.csv").progress.inserted == 1000)
    #expect(try await folder.count("Member") == 1001)
    try await daemon.stop()
  }

  @Test("that is full keeps what can't be refused, says so once, and refuses it when there is room")
  func full() async throws {
    let folder = try DaemonFolder.withMembers()
    let mounts = try await PrivateMounts(
      in: folder,
      "mkdir -p spool/corrupt; mount -t tmpfs -o size=64k lade spool/corrupt; head -c 1m /dev/zero >spool/corrupt/ballast || true"
    )
    let daemon = try await folder.start(by: mounts.prefix)
    try mounts.drop("nonsense", as: "bad.job", into: "")
    try await folder.expectToldOnce("No space left on device", by: daemon)
    #expect(try mounts.text("spool/incoming/bad.job") == "nonsense")
    try await mounts.run("rm spool/corrupt/ballast")
    try await folder.scanned()
    #expect(try mounts.text("spool/corrupt/bad.job.reason").contains("code: ticket"))
    #expect(try mounts.names(in: "spool/incoming") == ["members"])
    try await daemon.stop()
  }

  @Test("that is read-only keeps what is there, says so once, and hands it over once when it isn't any more")
  func readOnly() async throws {
    let folder = try DaemonFolder.withMembers()
    let mounts = try await PrivateMounts(in: folder, "mkdir -p spool/active; mount -t tmpfs lade spool/active")
    let daemon = try await folder.start(by: mounts.prefix)
    try await mounts.run("mount -o remount,ro spool/active")
    try mounts.drop("number,name\n1,Ada\n", as: "x.csv", into: "members")
    try mounts.drop("number,name\n2,Bob\n", as: "y.csv", into: "members")
    try await folder.expectToldOnce("Read-only file system", by: daemon)
    #expect(try mounts.names(in: "spool/incoming/members") == ["x.csv", "y.csv"])
    try await mounts.run("mount -o remount,rw spool/active")
    for source in ["x.csv", "y.csv"] { #expect(try await folder.job(of: source).state == .completed) }
    #expect(try await folder.count("Member") == 2)
    try await daemon.stop()
  }

  @Test("is taken from while the queue's disk is full as soon as it isn't, with one job of each file")
  func fullQueue() async throws {
    let folder = try DaemonFolder.withMembers()
    let mounts = try await PrivateMounts(in: folder, "mkdir -p state; mount -t tmpfs -o size=16m lade state")
    let daemon = try await folder.start(by: mounts.prefix)
    try await mounts.run("head -c 32m /dev/zero >state/ballast || true")
    for number in 1...20 { try mounts.drop("number,name\n\(number),Ada\n", as: "\(number).csv", into: "members") }
    for _ in 1...3 { try await folder.scanned() }
    let log = try daemon.log
    #expect(log.split(separator: "\n").count < 100, "\(log)")
    try await mounts.run("rm state/ballast")
    for number in 1...20 { #expect(try await folder.job(of: "\(number).csv").state == .completed) }
    #expect(try await folder.count("Member") == 20)
    #expect(try mounts.names(in: "spool/incoming/members") == [])
    try await daemon.stop()
  }

  @Test("goes on in what is mounted over incoming/, and in what is under it when that is detached, without being asked")
  func mountedAndDetached() async throws {
    let folder = try DaemonFolder.withMembers("rescan_interval: 24h")
    let mounts = try await PrivateMounts(in: folder, "true")
    let daemon = try await folder.start(by: mounts.prefix)
    try await folder.scanned()
    let done = try FolderWatch(folder.file("spool/done"))
    for (number, commands) in [
      (1, "mount -t tmpfs lade spool/incoming; mkdir -p spool/incoming/members"), (2, "umount -l spool/incoming"),
    ] {
      try await mounts.run(commands)
      try mounts.drop("number,name\n\(number),Ada\n", as: "\(number).csv", into: "members")
      try await done.appearance(of: "\(number)-\(number).csv")
    }
    #expect(try await folder.count("Member") == 2)
    try await daemon.stop()
  }
}
