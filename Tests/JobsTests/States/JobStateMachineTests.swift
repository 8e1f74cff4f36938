import Foundation
import Jobs
import Testing

private let t0 = Date(timeIntervalSince1970: 1_700_000_000)

/// A machine driven by events, one second apart.
private func machine(_ events: [JobEvent], maxAttempts: Int = 3) throws -> JobStateMachine {
  var machine = JobStateMachine(maxAttempts: maxAttempts, backoff: Backoff(first: 10, longest: 60, spread: 0))
  for (second, event) in events.enumerated() {
    _ = try machine.apply(event, at: t0.addingTimeInterval(Double(second)))
  }
  return machine
}

private let submitted = JobEvent.submitted(JobWaiting())
private let failed = JobEvent.failed(isRetryable: true, jitter: 0.5)

/// One way into each state.
private let ways: [(state: JobState?, way: [JobEvent])] = [
  (nil, []),
  (.scheduled, [.submitted(JobWaiting(notBefore: t0.addingTimeInterval(50)))]),
  (.available, [submitted]),
  (.running, [submitted, .claimed]),
  (.retryable, [submitted, .claimed, failed]),
  (.completed, [submitted, .claimed, .succeeded]),
  (.cancelled, [submitted, .claimed, .cancelled]),
  (.discarded, [submitted, .claimed, .failed(isRetryable: false, jitter: 0.5)]),
]

private let events: [JobEvent] = [
  submitted, .due, .claimed, .succeeded, failed, .cancelRequested, .cancelled, .interrupted, .rescued,
  .retryRequested, .held, .released, .fileArrived, .fileLost, .dependenciesMet, .dependencyFailed, .expired,
]

/// Every legal step of a job that isn't held; all others are illegal.
private let legal: [JobState?: [String: JobState]] = [
  nil: ["submitted": .available],
  .scheduled: [
    "due": .available, "cancel requested": .cancelled, "held": .scheduled, "file arrived": .scheduled,
    "file lost": .scheduled,
  ],
  .available: [
    "claimed": .running, "cancel requested": .cancelled, "held": .scheduled, "file arrived": .available,
    "file lost": .scheduled,
  ],
  .running: [
    "succeeded": .completed, "failed": .retryable, "cancel requested": .running, "cancelled": .cancelled,
    "interrupted": .available, "rescued": .available, "file arrived": .running, "file lost": .scheduled,
  ],
  .retryable: [
    "due": .available, "cancel requested": .cancelled, "retry requested": .available, "held": .scheduled,
    "file arrived": .retryable, "file lost": .scheduled,
  ],
  .completed: ["file arrived": .completed],
  .cancelled: ["retry requested": .available, "file arrived": .cancelled],
  .discarded: ["retry requested": .available, "file arrived": .discarded],
]

@Suite("Job state machine")
struct JobStateMachineTests {
  @Test("every legal step leads where it should, and every other one is refused and changes nothing")
  func everyPair() throws {
    var seen = 0
    for (state, way) in ways {
      for event in events {
        seen += 1
        var job = try machine(way)
        #expect(job.state == state)
        let before = job
        do {
          _ = try job.apply(event, at: t0.addingTimeInterval(100))
          #expect(job.state == legal[state]?[event.name], "\(event.name) in \(String(describing: state))")
        } catch {
          #expect(legal[state]?[event.name] == nil, "\(error)")
          #expect(job == before)
          #expect(!error.why.isEmpty && error.state == state)
        }
      }
    }
    #expect(seen == 8 * 17)
  }

  @Test(
    "a claim counts an attempt, and an end that the daemon caused takes it back",
    arguments: [JobEvent.interrupted, .rescued])
  func attempts(_ event: JobEvent) throws {
    var job = try machine([submitted, .claimed])
    #expect(job.attempt == 1)
    #expect(try job.apply(event, at: t0) == [.offer])
    #expect(job.attempt == 0 && job.state == .available)
  }

  @Test("the number of a claim rises with each claim and each rescue, and nothing takes it back")
  func claims() throws {
    var job = try machine([submitted], maxAttempts: 9)
    let steps: [(JobEvent, Int64)] = [
      (.claimed, 1), (.interrupted, 1), (.claimed, 2), (failed, 2), (.retryRequested, 2), (.claimed, 3), (.rescued, 4),
      (.held, 4), (.released, 4), (.claimed, 5), (.fileLost, 6), (.fileArrived, 6), (.claimed, 7),
      (.cancelRequested, 7),
      (.cancelled, 7), (.retryRequested, 7), (.claimed, 8), (.succeeded, 8),
    ]
    for (event, claim) in steps {
      _ = try job.apply(event, at: t0)
      #expect(job.claim == claim, "\(event.name)")
    }
  }

  @Test("a failure that may pass waits longer each time, and is discarded after the last attempt")
  func retries() throws {
    var job = try machine([submitted], maxAttempts: 3)
    var time = t0
    for delay in [10.0, 20] {
      _ = try job.apply(.claimed, at: time)
      let next = time.addingTimeInterval(delay)
      #expect(try job.apply(failed, at: time) == [.wake(next)])
      #expect(job.state == .retryable && job.availableAt == next)
      let early = next
      #expect(throws: IllegalTransition.self) { try job.apply(.due, at: early.addingTimeInterval(-1)) }
      #expect(try job.apply(.due, at: next) == [.offer])
      #expect(job.availableAt == nil)
      time = next
    }
    _ = try job.apply(.claimed, at: time)
    #expect(try job.apply(failed, at: time) == [.settle])
    #expect(job.state == .discarded && job.endedAt == time)
  }

  @Test("a retry by hand gives at least one more attempt")
  func retryByHand() throws {
    var job = try machine([submitted, .claimed, failed], maxAttempts: 1)
    #expect(job.state == .discarded)
    #expect(try job.apply(.retryRequested, at: t0) == [.offer])
    #expect(job.state == .available && job.maxAttempts == 2 && job.endedAt == nil)
  }

  @Test(
    "whatever a running job does after a request to cancel it, it isn't tried again",
    arguments: [
      (JobEvent.cancelled, JobState.cancelled), (.succeeded, .completed), (failed, .cancelled),
      (.interrupted, .cancelled), (.rescued, .cancelled),
    ])
  func afterCancelRequest(_ event: JobEvent, _ state: JobState) throws {
    var job = try machine([submitted, .claimed])
    #expect(try job.apply(.cancelRequested, at: t0) == [.stop])
    #expect(try job.apply(event, at: t0) == [.settle])
    #expect(job.state == state && !job.isCancelRequested)
  }

  @Test("a held job waits for its release, and then for its time")
  func holding() throws {
    let later = t0.addingTimeInterval(100)
    var job = try machine([.submitted(JobWaiting(notBefore: later, isHeld: true))])
    #expect(job.state == .scheduled && job.availableAt == nil)
    #expect(throws: IllegalTransition.self) { try job.apply(.due, at: later) }
    #expect(try job.apply(.released, at: t0) == [.wake(later)])
    #expect(job.state == .scheduled && job.availableAt == later)
    #expect(try job.apply(.due, at: later) == [.offer])
    #expect(throws: IllegalTransition.self) { try job.apply(.released, at: later) }
  }

  @Test("a job waits for its file, which may be announced twice")
  func awaitingFile() throws {
    var job = try machine([.submitted(JobWaiting(awaitsFile: true))])
    #expect(job.state == .scheduled)
    #expect(throws: IllegalTransition.self) { try job.apply(.released, at: t0) }
    #expect(try job.apply(.fileArrived, at: t0) == [.offer])
    #expect(try job.apply(.fileArrived, at: t0) == [])
    #expect(job.state == .available)
  }

  @Test("a job whose file is lost waits for it again, as if it hadn't begun")
  func lostFile() throws {
    for way in [[JobEvent.claimed], [.claimed, failed]] {
      var job = try machine([.submitted(JobWaiting(awaitsFile: true)), .fileArrived] + way)
      let attempts = job.state == .running ? 0 : 1
      #expect(try job.apply(.fileLost, at: t0) == [])
      #expect(job.state == .scheduled && job.isAwaitingFile && job.availableAt == nil && job.attempt == attempts)
      #expect(try job.apply(.fileLost, at: t0) == [])
      #expect(try job.apply(.fileArrived, at: t0) == [.offer])
    }
    var stopped = try machine([.submitted(JobWaiting(awaitsFile: true)), .fileArrived, .claimed, .cancelRequested])
    #expect(try stopped.apply(.fileLost, at: t0) == [.settle])
    #expect(stopped.state == .cancelled)
  }

  @Test("a job cancelled during the hand-over has its file put away when it arrives")
  func cancelledDuringHandOver() throws {
    var job = try machine([.submitted(JobWaiting(awaitsFile: true)), .cancelRequested])
    #expect(job.state == .cancelled)
    #expect(try job.apply(.fileArrived, at: t0) == [.settle])
    #expect(try job.apply(.fileArrived, at: t0) == [])
  }

  @Test("a job that follows others waits for them, and is cancelled when one of them fails")
  func following() throws {
    var job = try machine([.submitted(JobWaiting(isHeld: true, awaitsJobs: true))])
    #expect(job.state == .scheduled)
    #expect(try job.apply(.released, at: t0) == [])
    #expect(job.state == .scheduled)
    #expect(try job.apply(.dependenciesMet, at: t0) == [.offer])
    #expect(throws: IllegalTransition.self) { try job.apply(.dependencyFailed, at: t0) }

    var unlucky = try machine([.submitted(JobWaiting(awaitsJobs: true))])
    #expect(try unlucky.apply(.dependencyFailed, at: t0) == [.settle])
    #expect(unlucky.state == .cancelled && !unlucky.isAwaitingJobs)
    #expect(try unlucky.apply(.retryRequested, at: t0) == [.offer])
  }

  @Test("a deadline discards what waits when it has passed, wherever it waits, and no retry goes past it")
  func deadline() throws {
    let deadline = t0.addingTimeInterval(105)
    for waiting in [
      JobWaiting(deadline: deadline), JobWaiting(notBefore: t0 + 200, deadline: deadline),
      JobWaiting(deadline: deadline, isHeld: true), JobWaiting(deadline: deadline, awaitsJobs: true),
    ] {
      var job = JobStateMachine(maxAttempts: 3)
      #expect(try job.apply(.submitted(waiting), at: t0).contains(.wake(deadline)))
      #expect(throws: IllegalTransition.self) { try job.apply(.expired, at: t0 + 104) }
      #expect(try job.apply(.expired, at: deadline) == [.settle])
      #expect(job.state == .discarded)
      #expect(try job.apply(.retryRequested, at: deadline).contains(.offer) == !waiting.awaitsFile)
      #expect(job.deadline == nil)
    }
    var failing = try machine([.submitted(JobWaiting(deadline: t0 + 11)), .claimed])
    #expect(try failing.apply(failed, at: t0 + 2) == [.settle])
    #expect(failing.state == .discarded)
    var running = try machine([.submitted(JobWaiting(deadline: t0 + 1)), .claimed])
    #expect(throws: IllegalTransition.self) { try running.apply(.expired, at: t0 + 100) }
  }

  @Test("the refusal says what was asked, of what, and why not")
  func message() throws {
    var job = try machine([submitted, .claimed, .succeeded])
    let error = #expect(throws: IllegalTransition.self) { try job.apply(.retryRequested, at: t0) }
    #expect(error?.description == "a job that is completed can't be retried: it succeeded: submit it again")
  }
}
