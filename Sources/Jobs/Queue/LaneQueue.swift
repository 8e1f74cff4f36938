// A lane runs its operations in slots. A slot is an `OperationQueue` that admits one operation at a time
// (`maxConcurrentOperationCount` 1) and runs its `main()` on a serial queue of the slot's own.
//
// Why one `OperationQueue` per slot, and not one per lane with the lane's concurrency as its count: an `OperationQueue`
// takes its threads from Dispatch's shared pool, which starts about one per core at once and another only every second
// while these are busy. Two imports would then keep every other lane from starting anything. A serial queue gets its
// thread at once. The decision record has the measurements:
// docs/decisions/0010-a-slot-of-a-lane-is-an-operation-queue-of-width-one.md
//
// How many slots are in use is decided by the claim (`LaneControl.slots`), because it also depends on what the store
// knows: rates, pauses, jobs that need a data store to themselves, and ends that aren't durable yet. When an operation
// passes its slot on (`JobQueue+Run`), the next one is added to the same `OperationQueue`, which admits it when the one
// before has returned from `main()`.

import Dispatch
import Foundation
import Synchronization

/// Where a lane's operations run. It holds only what runs: the rest of the work stays in the store.
final class LaneQueue: Sendable {
  private struct Slot: Sendable {
    let operations = OperationQueue()
    /// `underlyingQueue` doesn't retain it.
    let queue: DispatchQueue

    init(label: String) {
      queue = DispatchQueue(label: label, qos: .utility)
      operations.name = label
      operations.maxConcurrentOperationCount = 1
      operations.underlyingQueue = queue
    }
  }

  private struct Slots {
    var all: [Slot] = []
    /// Those of them that nothing uses. They cost no thread.
    var free: [Slot] = []
    var isSuspended = false
  }

  let name: String
  private let slots = Mutex(Slots())

  init(_ configuration: LaneConfiguration) { name = configuration.name }

  /// Runs an operation in a free slot, and what it names as its successor after it.
  func run(_ operation: JobOperation) { run(operation, in: takeSlot()) }

  /// Calls `body` where an operation that began now would run.
  func probe(_ body: @escaping @Sendable () -> Void) {
    let slot = takeSlot()
    slot.operations.addOperation { [self] in
      giveBack(slot)
      body()
    }
  }

  /// Keeps operations that haven't begun from beginning.
  var isSuspended: Bool {
    get { slots.withLock(\.isSuspended) }
    set {
      let all = slots.withLock { slots in
        slots.isSuspended = newValue
        return slots.all
      }
      for slot in all { slot.operations.isSuspended = newValue }
    }
  }

  private func run(_ operation: JobOperation, in slot: Slot) {
    operation.whenFinished { [self] successor in
      if let successor { run(successor, in: slot) } else { giveBack(slot) }
    }
    slot.operations.addOperation(operation)
  }

  private func takeSlot() -> Slot {
    slots.withLock { slots in
      if let slot = slots.free.popLast() { return slot }
      let slot = Slot(label: "lane.\(name).\(slots.all.count + 1)")
      slot.operations.isSuspended = slots.isSuspended
      slots.all.append(slot)
      return slot
    }
  }

  private func giveBack(_ slot: Slot) { slots.withLock { $0.free.append(slot) } }
}

/// The limits of a lane, which decide how many of its jobs begin. A value, kept by the queue.
struct LaneControl {
  var configuration: LaneConfiguration
  var setting = LaneSetting()
  /// When its latest jobs began, oldest first, as far as its rate counts them.
  var starts: [Date] = []

  init(_ configuration: LaneConfiguration) { self.configuration = configuration }

  /// How many of its jobs run at a time, at most.
  var concurrency: Int { setting.concurrency ?? configuration.concurrency }

  /// How many of its jobs may begin now, when `running` do.
  func slots(running: Int, at time: Date) -> Int {
    guard !setting.isPaused else { return 0 }
    let free = max(0, concurrency - running)
    guard let rate = configuration.rate else { return free }
    return min(free, rate.jobs - recentStarts(rate, at: time).count)
  }

  /// When the rate lets the next begin; nil if it lets one begin now.
  func nextStart(at time: Date) -> Date? {
    guard let rate = configuration.rate else { return nil }
    let recent = recentStarts(rate, at: time)
    guard recent.count >= rate.jobs else { return nil }
    return recent[recent.count - rate.jobs].addingTimeInterval(rate.period)
  }

  /// The starts that count now. Those after a clock that was set back don't: the lane would stand still until then.
  private func recentStarts(_ rate: RateLimit, at time: Date) -> [Date] {
    starts.filter { $0 > time.addingTimeInterval(-rate.period) && $0 <= time }
  }

  /// The starts that the rate counts, from the queue's store; none without a rate. On the ledger's queue.
  func storedStarts(_ ledger: JobLedger, at time: Date) throws -> [Date] {
    guard let rate = configuration.rate else { return [] }
    return try ledger.latestStarts(
      lane: configuration.name, after: time.addingTimeInterval(-rate.period), until: time, limit: rate.jobs)
  }

  /// Takes on a changed configuration. The run-time settings stay, and so do the starts of jobs that began since, unless
  /// the rate is another.
  mutating func reconfigure(as new: LaneControl) {
    if configuration.rate != new.configuration.rate { starts = new.starts }
    configuration = new.configuration
  }

  /// A job has begun.
  mutating func note(start time: Date) {
    guard let rate = configuration.rate else { return }
    starts.append(time)
    if starts.count > rate.jobs { starts.removeFirst(starts.count - rate.jobs) }
  }
}
