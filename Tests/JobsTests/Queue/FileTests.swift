import Foundation
import Testing

@testable import Jobs

@Suite("A job of the spool")
struct FileTests {
  private static let ticket = JobSubmission.of("noop").with { $0.origin = .spool("1:2:3:4:x.job") }
  private static let file = JobSubmission.of("read").with {
    $0.origin = .spool("5:6:7:8:x.csv")
    $0.source = "x.csv"
    $0.awaitsFile = true
  }

  private static func name(_ id: Int64, _ source: String?) -> String { source.map { "\(id)-\($0)" } ?? "\(id).job" }

  @Test(
    "runs without a file before its entry is gone for good; until then its end isn't reported, and the entry is known",
    arguments: StoreKind.allCases)
  func ticketAlone(_ kind: StoreKind) async throws {
    let finished = Shared<String?>()
    let queue = try TestHouse(kind).queue(delegate: .init(finished: { finished.append($0.activeName) }))
    try await queue.start()
    let job = try await queue.submit(Self.ticket)
    #expect(job.state == .running && job.attempt == 1)
    _ = try await queue.job(job.id, when: .completed)
    #expect(try await queue.submit(Self.ticket).id == job.id)
    #expect(finished.all == [])
    #expect(queue.state.settling == [job.id])
    async let end = queue.whenEnded(job.id)
    #expect(try await queue.handOverCompleted(of: [job.id, 99], by: "spool", named: Self.name) == [99])
    #expect(try await end.activeName == "\(job.id).job")
    #expect(try await queue.handOverCompleted(of: [job.id], by: "spool", named: Self.name) == [])
    #expect(finished.all == ["\(job.id).job"])
    #expect(try await queue.submit(Self.ticket).id != job.id)
  }

  @Test(
    "that has ended is known by its entry also after a restart, and isn't removed before that is gone for good",
    arguments: StoreKind.allCases)
  func restart(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let first = try house.queue()
    try await first.start()
    let job = try await first.submit(Self.ticket)
    _ = try await first.job(job.id, when: .completed)
    #expect(await first.drain(timeout: .seconds(60)).isEmpty)

    let second = try house.queue(retention: JobRetention(age: [.completed: 0], count: 0))
    #expect(try await second.jobs(JobFilter(isUnarrived: true)).map(\.id) == [job.id])
    try await second.start()
    await #expect(throws: JobQueueError.self) { try await second.remove(job.id, by: "ben") }
    #expect(try await second.submit(Self.ticket).id == job.id)
    #expect(try await second.jobs().map(\.state) == [.completed])

    let finished = Shared<String?>()
    let third = try house.queue(delegate: .init(finished: { finished.append($0.activeName) }))
    _ = try await third.fileArrived(job.id, activeName: "1.job", by: "restart")
    _ = try await third.whenEnded(job.id)
    #expect(finished.all == ["1.job"])
    #expect(try await third.jobs(JobFilter(isUnarrived: true)).isEmpty)
  }

  @Test(
    "runs when its file is there, and waits for it again when its move was lost with the power",
    arguments: StoreKind.allCases)
  func lostFile(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let names = Shared<String>()
    let first = try house.queue([
      "read": {
        names.append($0.job.activeName ?? "-")
        gate.pass()
        return .completed(JobProgress())
      }
    ])
    try await first.start()
    let job = try await first.submit(Self.file)
    #expect(job.state == .scheduled && job.isAwaitingFile)
    first.filesArrived(of: [job.id], by: "spool", named: Self.name)
    await gate.arrivals(1)
    let running = try await first.job(job.id, when: .running)
    #expect(running.origin == Self.file.origin && !running.isAwaitingFile)
    #expect(try await first.submit(Self.file).id == job.id)

    let second = try house.queue([
      "read": {
        names.append($0.job.activeName ?? "-")
        return .completed(JobProgress())
      }
    ])
    try await second.fileLost(job.id)
    try await second.start()
    let lost = try await second.job(job.id)
    #expect(lost.state == .scheduled && lost.isAwaitingFile && lost.attempt == 0 && lost.rescues == 1)
    #expect(try await second.submit(Self.file).id == job.id)
    second.filesArrived(of: [job.id], by: "spool", named: Self.name)
    _ = try await second.job(job.id, when: .completed)
    #expect(try await second.handOverCompleted(of: [job.id], by: "spool", named: Self.name) == [])
    let end = try await second.whenEnded(job.id)
    #expect(end.activeName == "\(job.id)-x.csv" && end.origin == nil && end.attempt == 1)
    #expect(names.all == ["\(job.id)-x.csv", "\(job.id)-x.csv"])
    // What its process would have done was it still there comes to nothing.
    gate.open()
    _ = await first.drain(timeout: .seconds(60))
    #expect(try await second.job(job.id).attempt == 1)
  }

  @Test(
    "that has ended is settled when its entry has come again after a loss of power, and not before",
    arguments: StoreKind.allCases)
  func settledWhenArrived(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let first = try house.queue(["read": passing()])
    try await first.start()
    let job = try await first.submit(Self.file)
    first.filesArrived(of: [job.id], by: "spool", named: Self.name)
    _ = try await first.job(job.id, when: .completed)
    #expect(await first.drain(timeout: .seconds(60)).isEmpty)

    let finished = Shared<String?>()
    let second = try house.queue(delegate: .init(finished: { finished.append($0.activeName) }))
    // Its ticket is in active/, and its file in incoming/ again.
    #expect(try await second.settle([job.id]) == [])
    try await second.start()
    #expect(finished.all == [])
    #expect(try await second.handOverCompleted(of: [job.id], by: "spool", named: Self.name) == [])
    _ = try await second.whenEnded(job.id)
    #expect(finished.all == ["\(job.id)-x.csv"])
  }

  @Test("that was to be stopped when its file was lost is cancelled for that reason", arguments: StoreKind.allCases)
  func lostAndCancelled(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let killed = try house.queue(["read": passing(gate)])
    try await killed.start()
    let job = try await killed.submit(Self.file)
    killed.filesArrived(of: [job.id], by: "spool", named: Self.name)
    await gate.arrivals(1)
    _ = try await killed.cancel(job.id, by: "ben")
    let queue = try house.queue()
    try await queue.fileLost(job.id)
    let ended = try await queue.job(job.id)
    #expect(ended.state == .cancelled && ended.reason == "cancelled by ben")
    gate.open()
  }

  @Test(
    "whose entry doesn't come back goes on if it needs no file, and is forgotten if it has ended",
    arguments: StoreKind.allCases)
  func withdrawn(_ kind: StoreKind) async throws {
    let gate = Gate()
    let queue = try TestHouse(kind).queue(["noop": passing(gate)], lanes: [.init(name: "import", concurrency: 1)])
    try await queue.start()
    let running = try await queue.submit(Self.ticket)
    await gate.arrivals(1)
    #expect(try await queue.withdraw(running.id, reason: "gone").state == .running)
    gate.open(3)
    #expect(try await queue.whenEnded(running.id).state == .completed)
    let ended = try await queue.submit(Self.ticket)
    _ = try await queue.job(ended.id, when: .completed)
    _ = try await queue.withdraw(ended.id, reason: "gone")
    #expect(try await queue.whenEnded(ended.id).state == .completed)
    #expect(try await queue.submit(Self.ticket).id > ended.id)
  }

  @Test(
    "that comes with others to a lane with nothing to do is claimed with them, by priority and no more than may run",
    arguments: StoreKind.allCases)
  func claimedTogether(_ kind: StoreKind) async throws {
    let gate = Gate()
    let queue = try TestHouse(kind).queue(["work": passing(gate)], lanes: [.init(name: "import", concurrency: 2)])
    try await queue.start()
    let receipts = await queue.receive(
      [0, 1, 2].map { JobSubmission.of("work", priority: $0) } + [.of("nothing"), .of("work", lane: "none")])
    #expect(receipts.prefix(3).map { try? $0.get().job.state } == [.available, .running, .running])
    #expect(receipts.suffix(2).map { (try? $0.get()) == nil } == [true, true])
    #expect(try await queue.counts().lanes["import"] == [.available: 1, .running: 2])
    await gate.arrivals(2)
    #expect(gate.most == 2)
    gate.open(3)
    for receipt in receipts.prefix(3) { #expect(try await queue.whenEnded(receipt.get().job.id).state == .completed) }
    #expect(gate.most == 2)
  }
}
