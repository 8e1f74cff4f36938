/// Who waits for the end of a job, and who for the queue to be quiet. A value, kept by the queue; the latches are opened
/// outside of its lock.
struct JobWaiters {
  private var byJob: [Int64: [Latch]] = [:]
  private var forQuiet: [Latch] = []

  /// Whether there are no waiters for jobs.
  var isEmpty: Bool { byJob.isEmpty }

  mutating func add(_ latch: Latch, for id: Int64) { byJob[id, default: []].append(latch) }

  mutating func remove(_ latch: Latch, for id: Int64) {
    byJob[id]?.removeAll { $0 === latch }
    if byJob[id]?.isEmpty ?? false { byJob[id] = nil }
  }

  mutating func take(for id: Int64) -> [Latch] { byJob.removeValue(forKey: id) ?? [] }

  mutating func addForQuiet(_ latch: Latch) { forQuiet.append(latch) }

  mutating func takeForQuiet() -> [Latch] {
    defer { forQuiet = [] }
    return forQuiet
  }
}
