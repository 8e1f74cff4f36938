import Foundation
import Glibc
import Synchronization
import Testing

@testable import Spool

@Suite("A hostile spool")
struct HostileTests {
  @Test(
    "is refused or ignored as expected, and the next entry is taken",
    arguments: Attack.names + Attack.kinds + Attack.tickets)
  func attack(_ attack: Attack) async throws {
    guard HostileSpool.isRoot || !attack.needsRoot else {
      print("skipped without root: \(attack.testDescription)")
      return
    }
    let hostile = try HostileSpool()
    let spool = hostile.spool
    let directories = try SpoolDirectories(
      path: spool.url(""), protected: [spool.path + "/state", spool.path + "/main.sqlite"], companionEndings: ["-wal"])
    let ledger = JobLedger()
    let intake = try spool.intake(
      directories, recipes: ["gtfs", "people", "caf\u{E9}"],
      allowedFolders: attack.allowed.map { $0.hasPrefix(".") ? spool.path + $0.dropFirst() : $0 }, ledger: ledger)
    try await intake.openHotFolders()
    try attack.make(hostile)
    try await intake.rescan()
    // Once more, because refused and ignored entries must stay so.
    try await intake.rescan()
    try check(attack, in: hostile, ledger)
    let status = intake.status
    #expect(status.failures == 0, "\(status.lastFailure ?? "")")
    #expect(try String(contentsOfFile: hostile.secretPath, encoding: .utf8) == HostileSpool.secret)
    for (name, text) in try hostile.contents(of: "active") {
      #expect(!text.contains(HostileSpool.secret), "\(name)")
    }

    let before = ledger.entries.count
    try spool.drop("incoming/gtfs/next.csv", "next")
    try await intake.rescan()
    #expect(ledger.entries.count == before + 1)
    #expect(try spool.text("active/\(before + 1)-next.csv") == "next")
  }

  private func check(_ attack: Attack, in hostile: HostileSpool, _ ledger: JobLedger) throws {
    let spool = hostile.spool
    switch attack.fate {
    case .refused(let kept, let code, let says):
      #expect(ledger.asked == 0)
      let corrupt = try spool.names("corrupt")
      #expect(corrupt.contains(kept), "\(corrupt)")
      let reason = try spool.text("corrupt/\(kept).reason")
      // A link or FIFO beside a ticket may be refused by itself before the ticket is read, which has no source then.
      let isGone = ["source-symbolic-link", "source-fifo"].contains(code) && reason.contains("code: source-missing\n")
      #expect(isGone || reason.contains("code: \(code)\n"), "\(reason)")
      #expect(isGone || says.isEmpty || reason.contains(says), "\(reason)")
      #expect(reason.utf8.count < 4096)
      #expect(reason.split(separator: "\n").count == 7, "\(reason)")
      #expect(!reason.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0.value == 0x202E }, "\(reason)")
      // In the place of a hot folder there is a folder by now.
      if attack.entry != "people" { #expect(!spool.exists("incoming/" + attack.entry)) }
      #expect(try spool.names("active").filter { $0 != "7-x.csv" } == [])
    case .leftAlone:
      #expect(ledger.asked == 0)
      if !attack.entry.contains("\u{FFFD}") { #expect(spool.exists("incoming/" + attack.entry)) }
      #expect(try spool.names("corrupt") == [])
      #expect(try spool.names("active") == [])
    case .taken(let name, let text):
      #expect(ledger.entries.count == 1)
      #expect(try spool.names("active") == [name])
      if let text { #expect(try spool.text("active/" + name) == text) }
      #expect(try spool.names("corrupt") == [])
    }
  }

  @Test("in which names differ in their case or their normal form only: each is a job of its own")
  func similarNames() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    for name in ["x.csv", "X.csv", "\u{E9}.csv", "e\u{301}.csv"] { try spool.drop("incoming/gtfs/" + name, name) }
    try await intake.rescan()
    #expect(ledger.entries.count == 4)
    #expect(Set(ledger.entries.map { Array($0.originalName.utf8) }).count == 4)
    #expect(try spool.names("active").count == 4)
    #expect(try spool.names("incoming/gtfs") == [])
  }

  @Test("in which links wait where a reason will be written, and where the entry will: nothing is written through them")
  func linkedReason() async throws {
    let hostile = try HostileSpool()
    let (spool, ledger) = (hostile.spool, JobLedger())
    try #require(symlink(hostile.secretPath, spool.url("corrupt/x.job.reason")) == 0)
    try #require(symlink(hostile.secretPath, spool.url("corrupt/y.job")) == 0)
    for name in ["x.job", "y.job"] { try spool.drop("incoming/" + name, "nonsense") }
    try await spool.intake(ledger: ledger).rescan()
    #expect(
      try spool.names("corrupt")
        == ["x.job.2", "x.job.2.reason", "x.job.reason", "y.job", "y.job.2", "y.job.2.reason"])
    #expect(try String(contentsOfFile: hostile.secretPath, encoding: .utf8) == HostileSpool.secret)
  }

  @Test("in which the source turns into a link between ticket and take: the job has the file that was examined")
  func swappedSource() async throws {
    let hostile = try HostileSpool()
    let (spool, ledger) = (hostile.spool, JobLedger())
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/x.csv", "data")
    try spool.drop("incoming/x.job", "source: x.csv\n")
    ledger.beforeAnswering { _, _ in
      unlink(hostile.entry("x.csv"))
      symlink(hostile.secretPath, hostile.entry("x.csv"))
    }
    try await intake.rescan()
    #expect(try spool.text("active/1-x.csv") == "data")
    var status = stat()
    try #require(lstat(hostile.entry("x.csv"), &status) == 0)
    #expect(status.st_mode & S_IFMT == S_IFLNK)
    try await intake.rescan()
    #expect(try spool.text("corrupt/x.csv.reason").contains("code: symbolic-link"))
  }

  @Test("in which an entry turns into something else between look and take", arguments: ["fifo", "directory", "link"])
  func swappedEntry(kind: String) async throws {
    let hostile = try HostileSpool()
    let (spool, ledger) = (hostile.spool, JobLedger())
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/gtfs/x.csv", "data")
    ledger.beforeAnswering { _, job in
      guard job == 1 else { return }
      unlink(hostile.entry("gtfs/x.csv"))
      switch kind {
      case "fifo": mkfifo(hostile.entry("gtfs/x.csv"), 0o666)
      case "directory": mkdir(hostile.entry("gtfs/x.csv"), 0o777)
      default: symlink(hostile.secretPath, hostile.entry("gtfs/x.csv"))
      }
    }
    try await intake.rescan()
    #expect(try spool.text("active/1-x.csv") == "data")
    #expect(try spool.names("active") == ["1-x.csv"])
    try await intake.rescan()
    #expect(try spool.names("corrupt") == ["x.csv", "x.csv.reason"])
    #expect(ledger.entries.count == 1)
  }

  @Test("in which somebody swaps a file and a link all the time: no job ever has what the link leads to")
  func hammered() async throws {
    let hostile = try HostileSpool()
    let (spool, ledger) = (hostile.spool, JobLedger())
    let intake = try spool.intake(ledger: ledger)
    try await intake.rescan()
    let isOver = Flag()
    let swapping = Task.detached {
      defer { isOver.set() }
      for round in 0..<400 {
        let asked = ledger.asked
        try spool.drop("incoming/gtfs/x.csv", "data \(round)")
        // Some are swapped only while they are taken.
        while round % 40 == 0, ledger.asked == asked { await Task.yield() }
        symlink(hostile.secretPath, spool.url("tmp/link"))
        rename(spool.url("tmp/link"), hostile.entry("gtfs/x.csv"))
      }
    }
    while !isOver.isSet { try await intake.rescan() }
    try await swapping.value
    try await intake.rescan()
    #expect(ledger.entries.count >= 10)
    for (name, text) in try hostile.contents(of: "active") { #expect(text.hasPrefix("data "), "\(name)") }
    #expect(try spool.names("incoming/gtfs") == [])
  }

  @Test("in which good entries lie behind 3,000 broken tickets: they are taken, and corrupt/ holds as many as it may")
  func brokenTickets() async throws {
    let (spool, ledger, log) = (try TemporarySpool(), JobLedger(), LogCollector())
    var rules = SpoolRules()
    rules.corruptLimit = 1000
    let intake = try spool.intake(rules: rules, log: log, ledger: ledger)
    try await intake.rescan()
    for number in 0..<3000 {
      try Data("broken: [".utf8).write(to: URL(fileURLWithPath: spool.url("incoming/\(number).job")))
    }
    // The clock of files ticks slowly: of two that have one time the name decides.
    for (name, time) in [("gtfs/x.csv", 100), ("good.job", 200)] {
      try spool.drop("incoming/" + name, "store: shop\n")
      var stamps = [timespec(tv_sec: time, tv_nsec: 0), timespec(tv_sec: time, tv_nsec: 0)]
      try #require(utimensat(AT_FDCWD, spool.url("incoming/" + name), &stamps, 0) == 0)
    }
    try await intake.rescan()
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName) == ["x.csv", "good.job"])
    // As many as corrupt/ may hold, each with its reason; the others stay, and that is said once.
    #expect(try spool.names("corrupt").count == 2000)
    #expect(try spool.names("incoming").count == 2002)
    #expect(log.lines.count { $0.contains("corrupt_limit") } == 1, "\(log.lines.suffix(5))")
    for name in try spool.names("corrupt").prefix(20) { unlink(spool.url("corrupt/" + name)) }
    try await intake.rescan()
    #expect(try spool.names("corrupt").count == 2000)
    #expect(try spool.names("incoming").count == 1992)
  }

  @Test("in which a name is refused again and again: a free one is found in few looks")
  func freeNames() {
    var looks = 0
    let free = FreeName.number { number in
      looks += 1
      return number <= 100_000
    }
    #expect(free == 100_001)
    #expect(looks < 50)
    #expect(FreeName.number { _ in false } == 1)
    #expect(FreeName.numbered("x.job", 1) == "x.job")
    #expect(FreeName.numbered("x.job", 7) == "x.job.7")
  }

  @Test(
    "in which a file can't be moved: it is logged once, others are taken, and it makes one job when it can",
    .enabled(if: HostileSpool.isRoot, "it takes root"))
  func immutable() async throws {
    let hostile = try HostileSpool()
    let (spool, ledger, log) = (hostile.spool, JobLedger(), LogCollector())
    let intake = try spool.intake(log: log, ledger: ledger)
    try await intake.rescan()
    try spool.drop("incoming/gtfs/x.csv", "data")
    try hostile.run("chattr +i \(hostile.entry("gtfs/x.csv"))", as: 0, group: 0)
    for round in 1...3 {
      try spool.drop("incoming/gtfs/\(round).csv")
      try await intake.rescan()
    }
    #expect(ledger.entries.count == 4)
    #expect(log.lines.count { $0.hasPrefix("error") } == 1, "\(log.lines)")
    try hostile.run("chattr -i \(hostile.entry("gtfs/x.csv"))", as: 0, group: 0)
    try await intake.rescan()
    #expect(ledger.entries.count == 4)
    #expect(spool.exists("active/1-x.csv"))
    #expect(log.lines.last?.contains("recovered") == true)
  }

  @Test("in which incoming/ is a link: nothing is taken from where it leads, and it is logged once")
  func linkedIncoming() async throws {
    let (spool, ledger, log) = (try TemporarySpool(), JobLedger(), LogCollector())
    try #require(rename(spool.url("incoming"), spool.path + "/elsewhere") == 0)
    try #require(symlink(spool.path + "/elsewhere", spool.url("incoming")) == 0)
    try Data("store: shop\n".utf8).write(to: URL(fileURLWithPath: spool.path + "/elsewhere/x.job"))
    let intake = try spool.intake(log: log, ledger: ledger)
    for _ in 1...3 { await intake.scan() }
    #expect(ledger.asked == 0)
    #expect(log.lines.count { $0.contains("is not a directory") } == 1, "\(log.lines)")
    try #require(unlink(spool.url("incoming")) == 0)
    try #require(rename(spool.path + "/elsewhere", spool.url("incoming")) == 0)
    await intake.scan()
    #expect(ledger.entries.count == 1)
  }
}

/// Is set once, from any thread.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}
