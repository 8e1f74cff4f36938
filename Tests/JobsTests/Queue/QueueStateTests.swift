import Foundation
import Logging
import Testing

@testable import Jobs

@Suite("The queue's state")
struct QueueStateTests {
  private let hub = JobEventHub()
  private let state: QueueState
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  init() {
    state = QueueState(
      lanes: ["import": LaneConfiguration(name: "import", concurrency: 2)], retention: JobRetention(), hub: hub)
  }

  private static func job(_ id: Int64, _ state: JobState = .running) -> Job {
    Job(
      id: id, kind: "noop", lane: "import", state: state, submittedAt: Date(timeIntervalSince1970: 0),
      submittedBy: "anna", maxAttempts: 1)
  }

  private func begin(_ id: Int64, access: StoreAccess = .none) {
    let job = Self.job(id)
    let environment = JobEnvironment(
      dataStores: [:], activeDirectory: FileManager.default.temporaryDirectory,
      rejectsDirectory: FileManager.default.temporaryDirectory,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    _ = state.begin(JobOperation(job: job, environment: environment), job, access: access, limit: nil, at: now)
  }

  private func end(_ id: Int64, _ actions: [JobAction] = []) {
    state.note(LedgerChange(job: Self.job(id, .completed), from: .running, actions: actions))
  }

  @Test("a slot is taken until the end of its job is durable")
  func slots() {
    state.start()
    #expect(state.slots(of: "import", at: now) == 2)
    begin(1)
    #expect(state.slots(of: "import", at: now) == 1)
    #expect(state.operationDidEnd(1, at: now).outcome != nil)
    #expect(state.slots(of: "import", at: now) == 1)
    end(1)
    #expect(state.slots(of: "import", at: now) == 2)
  }

  @Test("nothing begins before the start, nor once the queue is drained")
  func closed() {
    #expect(state.lanesWithWork(at: now).names.isEmpty && state.slots(of: "import", after: [1], at: now) == nil)
    state.start()
    #expect(state.lanesWithWork(at: now).names == ["import"])
    state.beginDrain()
    #expect(state.lanesWithWork(at: now).names.isEmpty && state.slotsForNew(in: "import", at: now) == 0)
  }

  @Test("no progress is announced after the end")
  func announcements() async {
    var events = hub.stream(capacity: 8).makeAsyncIterator()
    begin(1)
    #expect(await events.next()?.state == .running)
    end(1)
    #expect(state.note(JobProgress(bytesDone: 5), of: 1, at: now) == nil)
    hub.finish()
    #expect(await events.next()?.state == .completed)
    #expect(await events.next() == nil)
  }

  @Test("claims are requested once for all that have begun without one")
  func claims() {
    #expect(state.requestClaims())
    #expect(!state.requestClaims())
    #expect(state.takeUnclaimed().isEmpty)
    #expect(state.requestClaims())
  }

  @Test("those who wait for the queue's end wait for running jobs and for files that are being put away")
  func quiet() {
    let latch = Latch()
    begin(1)
    state.beginDrain()
    state.add(forQuiet: latch)
    #expect(state.takeDrainersIfQuiet().isEmpty)
    end(1, [.settle])
    #expect(state.takeDrainersIfQuiet().isEmpty && state.isSettling(1))
    _ = state.endPuttingAway(1)
    #expect(state.takeDrainersIfQuiet().map(ObjectIdentifier.init) == [ObjectIdentifier(latch)])
  }

  @Test("a configuration replaces the lanes, and keeps those that stay with what runs there")
  func reconfigure() {
    state.start()
    begin(1)
    let before = state.lane("import")
    let lanes = [
      "import": LaneConfiguration(name: "import", concurrency: 3), "bulk": LaneConfiguration(name: "bulk"),
    ]
    state.reconfigure(lanes, controls: lanes.mapValues { LaneControl($0) }, counts: nil, retention: JobRetention())
    #expect(state.lane("import") === before && state.lane("bulk") != nil)
    #expect(state.slots(of: "import", at: now) == 2)
    state.reconfigure(
      ["bulk": LaneConfiguration(name: "bulk")], controls: [:], counts: nil, retention: JobRetention())
    #expect(state.lane("import") == nil && state.slots(of: "import", at: now) == 0)
  }
}
