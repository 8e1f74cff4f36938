import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

/// What a machine may do to a daemon: it goes on, or ends with its documented status and a message, and when the fault is gone
/// there is what one run leaves. With `LADE_FAULTS=all` in the environment, every fault that is sampled otherwise.
@Suite("A daemon on a machine", .startsDaemons)
struct EnvironmentTests {
  // MARK: A process that is stopped

  @Test("that stops it in the middle of an import goes on with it, and tells the watchdog")
  func stopped() async throws {
    let expected = try await Undisturbed.long.value
    let folder = try DaemonFolder(model: Members.model, recipes: Undisturbed.recipes)
    let daemon = try folder.launch(["WATCHDOG_USEC": "1000000"])
    try await daemon.ready()
    try folder.drop(expected.csv, as: "members.csv", into: "members")
    let job = try #require(try await folder.jobs().first)
    let events = try JobEvents(of: job.id, socket: folder.file("s"))
    _ = await events.first { $0.progress.records >= 1_000 }
    daemon.send(SIGSTOP)
    // Longer than the watchdog waits: the time is the fault.
    try await Task.sleep(for: .seconds(FaultSample.isAll ? 60 : 3))
    let pings = daemon.notices.count { $0 == "WATCHDOG=1" }
    daemon.send(SIGCONT)
    try await expected.expect(of: folder.ended(job.id), in: folder)
    try await daemon.tells("WATCHDOG=1", times: pings + 1)
    #expect(try await folder.http("GET", "/v1/health").status == 200)
    try await daemon.stop()
  }

  // MARK: A clock that is set

  @Test("whose clock is set forward and back makes the jobs of its schedules, takes files and forgets nothing")
  func clock() async throws {
    let expected = try await Undisturbed.short.value
    let folder = try DaemonFolder(
      model: Members.model, recipes: Undisturbed.recipes,
      more: """
        intake: { settle: 100ms }
        schedules:
          tick: { calendar: "*:*:*", job: { kind: checkpoint, store: main } }
        """)
    let clock = try ClockShim(in: folder)
    let daemon = try folder.launch(clock.environment)
    try await daemon.ready()
    let start = Date()
    let day: TimeInterval = 86_400
    func ticked(at days: Double) async throws {
      let time = start.addingTimeInterval(days * day)
      while true {
        let schedule = try #require(try await folder.got(ScheduleList.self, "GET", .schedules).schedules.first)
        if let last = schedule.lastAt, abs(last.timeIntervalSince(time)) < day / 2 { return }
      }
    }
    try await ticked(at: 0)
    for (number, days) in [2.0, -2, 0].enumerated() {
      try clock.set(aheadBy: days * day)
      try await ticked(at: days)
      let job = try await folder.imported(expected.csv, as: "members \(number).csv", into: "members")
      #expect(job.state == .completed, "\(job.reason ?? "")")
      #expect(abs((job.endedAt ?? .distantPast).timeIntervalSince(start) - days * day) < day / 2)
      if number == 0 { try await expected.expect(of: job, in: folder) }
    }
    // What was done stays done, whenever it was.
    let jobs = try await folder.listedJobs().filter { $0.source != nil }
    #expect(jobs.count == 3 && jobs.allSatisfy { $0.state == .completed })
    #expect(try await folder.http("GET", "/v1/health").status == 200)
    try await daemon.stop()
  }

  // MARK: Limits

  /// Starts a daemon with too little of something, and returns what is enough by its message.
  private func least(
    in folder: DaemonFolder, with limit: String, _ pattern: Regex<(Substring, Substring)>
  ) async throws -> Int {
    let prlimit = try #require(Products.system("prlimit"), "util-linux isn't installed")
    let daemon = try folder.launch(by: [prlimit.path, limit])
    #expect(try await daemon.ended() == .exit(71))
    let log = try daemon.log
    let match = try #require(try pattern.firstMatch(in: log), "\(log)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("state")), "it makes nothing")
    return try #require(Int(match.output.1))
  }

  @Test("with 64 descriptors imports while clients take what they can, and with fewer than it needs says so")
  func descriptors() async throws {
    let prlimit = try #require(Products.system("prlimit"), "util-linux isn't installed")
    let expected = try await Undisturbed.long.value
    let folder = try DaemonFolder(model: Members.model, recipes: Undisturbed.recipes)
    let least = try await self.least(in: folder, with: "--nofile=32", /needs ([0-9]+) or more: raise LimitNOFILE=/)
    #expect(least > 32 && least <= 64)
    for limit in [least, 64] {
      let folder = try DaemonFolder(model: Members.model, recipes: Undisturbed.recipes)
      let daemon = try await folder.start(by: [prlimit.path, "--nofile=\(limit)"])
      var held: [Int32] = []
      defer { for descriptor in held { close(descriptor) } }
      for _ in 0..<100 { held.append(try DaemonFolder.connected(to: folder.file("s"), asking: "")) }
      let refused = try await folder.http("GET", "/v1/status")
      #expect(refused.status == 503, "\(refused.text)")
      try folder.drop(expected.csv, as: "members.csv", into: "members")
      try await daemon.logs("completed in")
      for descriptor in held { close(descriptor) }
      held = []
      while try await folder.http("GET", "/v1/health").status == 503 {}
      try await expected.expect(of: try #require(try await folder.jobs().first), in: folder)
      let log = try daemon.log
      #expect(!log.contains("Too many open files"), "\(log)")
      try await daemon.stop()
    }
  }

  @Test(
    "with 200 MB of address space says how much it needs, and with that imports",
    .enabled("a sanitizer reserves more address space than there may be") {
      let environment = ProcessInfo.processInfo.environment
      return environment["ASAN_OPTIONS"] == nil && environment["TSAN_OPTIONS"] == nil
    })
  func addressSpace() async throws {
    let prlimit = try #require(Products.system("prlimit"), "util-linux isn't installed")
    let expected = try await Undisturbed.long.value
    let folder = try DaemonFolder(model: Members.model, recipes: Undisturbed.recipes)
    let least = try await self.least(in: folder, with: "--as=200000000", /needs ([0-9]+) MB or more/)
    let daemon = try await folder.start(by: [prlimit.path, "--as=\(least << 20)"])
    let job = try await folder.imported(expected.csv, as: "members.csv", into: "members")
    try await expected.expect(of: job, in: folder)
    try await daemon.stop()
  }

  // MARK: A disk that is full

  /// Kilobytes of the disk that has state and store; more than the last is enough for all.
  private static let sizes =
    FaultSample.isAll ? Array(stride(from: 64, through: 4096, by: 64)) : [64, 192, 448, 704, 1024, 1600]

  @Test(
    "whose disk is full at any size ends or waits, and when there is room does everything",
    .enabled(if: PrivateMounts.arePossible, "it takes root, for it mounts"), arguments: sizes)
  func fullDisk(kilobytes: Int) async throws {
    let expected = try await Undisturbed.short.value
    let folder = try DaemonFolder(model: Members.model)
    try folder.write(
      """
      spool: spool
      state: disk/state
      socket: s
      stores: { main: { path: disk/main.sqlite, model: Model.xcdatamodeld } }
      retry: { first: 100ms, longest: 100ms }
      recipes:
      \(Undisturbed.recipes)
      """, to: "lade.yaml")
    let mounts = try await PrivateMounts(in: folder, "mkdir disk; mount -t tmpfs -o size=\(kilobytes)k lade disk")
    try folder.drop(expected.csv, as: "members.csv", into: "members")
    let first = try folder.launch(by: mounts.prefix)
    try await Self.meetsFullDisk(first, in: folder)
    let isUp = first.started.current == .ready
    try await mounts.run("mount -o remount,size=64m disk")
    if isUp {
      #expect(try await folder.scanned())
    } else {
      #expect(try await first.ended() == .exit(74))
      let log = try first.log
      #expect(log.contains(folder.file("disk")), "\(log)")
    }
    let daemon = isUp ? first : try await folder.start(by: mounts.prefix)
    var job: Job?
    while job?.state != .completed {
      job = try await folder.listedJobs().first
      guard let job else { continue }
      if job.state == .retryable || job.state == .discarded { _ = try await folder.ladectl("retry", "\(job.id)") }
    }
    try await daemon.stop()
    try await mounts.run("mkdir -p result/state; cp disk/main.sqlite result/; cp -r disk/state/rejects result/state/")
    try await expected.expect(
      of: try #require(job), in: folder, store: "result/main.sqlite", file: { folder.file("result/" + $0) })
  }

  /// Waits until the daemon has ended, or its job has, or it has said that the disk is full.
  private static func meetsFullDisk(_ daemon: DaemonProcess, in folder: DaemonFolder) async throws {
    guard try await daemon.started.value() == .ready else { return }
    while true {
      let log = try daemon.log
      if log.contains("full") || log.contains("No space left") { return }
      if log.contains("completed in") { return }
      _ = try await folder.ladectl("status")
    }
  }

  // MARK: A slow disk

  @Test(
    "whose disk takes 200 ms for each sync does everything, and answers meanwhile",
    .enabled("it takes strace, and that it may trace") { SlowDisk.prefix != nil })
  func slowDisk() async throws {
    let prefix = try #require(SlowDisk.prefix)
    let expected = try await Undisturbed.short.value
    let folder = try DaemonFolder(model: Members.model, recipes: Undisturbed.recipes)
    let daemon = try await folder.start(by: prefix)
    try folder.drop(expected.csv, as: "members.csv", into: "members")
    let job = try #require(try await folder.jobs().first)
    async let ended = folder.ended(job.id)
    for _ in 0..<10 { #expect(try await folder.http("GET", "/v1/status").status == 200) }
    try await expected.expect(of: ended, in: folder)
    try await daemon.stop()
  }

  // MARK: Clients

  @Test(
    "with 2,000 half-open connections of a user answers its own, and imports",
    .enabled("it takes root, setpriv and perl to be somebody else") {
      geteuid() == 0 && Products.system("setpriv") != nil && Products.system("perl") != nil
    }, arguments: [1_024, 16_384])
  func halfOpen(descriptors: Int) async throws {
    let prlimit = try #require(Products.system("prlimit"), "util-linux isn't installed")
    let expected = try await Undisturbed.long.value
    let folder = try DaemonFolder(model: Members.model, recipes: Undisturbed.recipes)
    // The folder is root's alone otherwise; the socket's own mode is what counts here.
    chmod(folder.path, 0o755)
    let daemon = try await folder.start(by: [prlimit.path, "--nofile=\(descriptors)"])
    let client = try halfOpen(2_000, to: folder)
    // Each of these is answered while connections come.
    while try !String(contentsOfFile: client.output, encoding: .utf8).contains("open") {
      #expect(try await folder.http("GET", "/v1/status").status == 200)
    }
    let job = try await folder.imported(expected.csv, as: "members.csv", into: "members")
    try await expected.expect(of: job, in: folder)
    #expect(try await folder.http("GET", "/v1/status").status == 200)
    client.send(SIGKILL)
    try await daemon.stop()
  }

  /// A client of another user that begins requests and never ends them.
  private func halfOpen(_ count: Int, to folder: DaemonFolder) throws -> ChildProcess {
    let program = """
      use Socket; $| = 1; $SIG{PIPE} = 'IGNORE';
      for (1..\(count)) {
        socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
        connect($s, pack_sockaddr_un($ARGV[0])) or die "connect: $!";
        syswrite($s, "GET /v1/status HTTP/1.1\\r\\nHost: l");
        push @held, $s;
      }
      print "open\\n";
      sleep 3600;
      """
    return try ChildProcess(
      try #require(Products.system("prlimit")),
      [
        "--nofile=\(count + 64)", "setpriv", "--reuid=54321", "--regid=\(getegid())", "--clear-groups", "perl", "-e",
        program, folder.file("s"),
      ], environment: Products.environment([:]), files: folder.nextRun())
  }
}

/// A disk on which each sync takes 200 ms more, by strace.
private enum SlowDisk {
  /// For ``DaemonFolder/start(by:)``; nil where strace isn't there or may not trace. The tracer is nobody's parent, so that
  /// signals go to the daemon.
  static let prefix: [String]? = {
    guard let strace = Products.system("strace") else { return nil }
    let words = [
      "-D", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-e",
      "inject=fsync,fdatasync:delay_exit=200000",
    ]
    do {
      guard try ProgramOutput.now(strace, words + ["true"]).status == 0 else { return nil }
    } catch {
      return nil
    }
    return [strace.path] + words
  }()
}
