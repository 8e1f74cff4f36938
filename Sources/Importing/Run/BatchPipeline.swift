import Dispatch
import Glibc
import ManagedObjects
import Synchronization

/// Reads and converts batches on a thread of its own, one or two ahead of the thread that writes.
///
/// Batches are handed over whole, so the threads synchronise once in thousands of records. Three record batches circulate:
/// one is being filled, one waits, one is being written.
final class BatchPipeline: @unchecked Sendable {
  // Sendable: `state` is behind its lock. `reader`, `mapping` and `codes` are touched by the reading thread only, from
  // `init` until `ended` is signalled.

  private struct State {
    var ready: [Result<ConvertedBatch, any Error>] = []
    var spare: [RecordBatch] = [RecordBatch(), RecordBatch(), RecordBatch()]
    var garbage: [(ConvertedBatch, DetachedObjects?)] = []
    var isStopped = false
  }

  private let reader: any RecordReader
  private let batchSize: Int
  private let mode: ImportMode
  private let coordinator: PersistentStoreCoordinator
  private let interruption: Interruption
  private var mapping: RecordMapping
  private let codes = KeyCodes()
  private let hash: RowFingerprint?
  private let isRetry: Bool
  private let state = Mutex(State())
  private let filled = DispatchSemaphore(value: 0)
  // Created at zero and signalled three times: Dispatch traps when a semaphore is released below its initial value.
  private let emptied = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - hash: hashes the rows, where it is recorded where they come from.
  ///   - isRetry: whether the records are rejects, of which values may be covered.
  ///   - interruption: ends reading and conversion within a record.
  init(
    reader: any RecordReader, mapping: RecordMapping, mode: ImportMode, batchSize: Int,
    coordinator: PersistentStoreCoordinator, hash: RowFingerprint? = nil, isRetry: Bool = false,
    interruption: Interruption = Interruption()
  ) {
    self.hash = hash
    self.isRetry = isRetry
    self.interruption = interruption
    self.mode = mode
    self.coordinator = coordinator
    self.reader = reader
    self.mapping = mapping
    self.batchSize = batchSize
    for _ in 0..<3 { emptied.signal() }
    // The reader goes on at the priority of the thread that imports. A failure to set it costs nothing but that.
    let niceness = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
    DispatchQueue(label: "import.reader", qos: .utility).async {
      if niceness > 0 { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
      self.readAll()
    }
  }

  /// The next batch; nil after the last.
  /// - Throws: what ended the reading, which may be ``Interrupted``. All batches before it have been returned.
  func next() throws -> ConvertedBatch? {
    filled.wait()
    let result = state.withLock { $0.ready.isEmpty ? nil : $0.ready.removeFirst() }
    guard let result else {
      // Later calls must find the end too.
      filled.signal()
      return nil
    }
    return try result.get()
  }

  /// Returns a batch's memory to the reader. Its thread has the time to release tens of thousands of objects.
  func recycle(_ batch: ConvertedBatch, _ detached: DetachedObjects?) {
    state.withLock {
      $0.spare.append(batch.source)
      $0.garbage.append((batch, detached))
    }
    emptied.signal()
  }

  /// Ends the reading, and waits until the source isn't used any more.
  func stop() {
    interruption.interrupt(.cancelled)
    state.withLock { $0.isStopped = true }
    emptied.signal()
    ended.wait()
    ended.signal()
  }

  private func readAll() {
    defer { ended.signal() }
    while true {
      emptied.wait()
      guard let batch = state.withLock({ $0.isStopped ? nil : $0.spare.popLast() }) else { break }
      releaseGarbage()
      do {
        // A source may have no record for a long time.
        guard try interruption.limit({ try reader.read(into: batch, limit: batchSize) }) else { break }
        if batch.columns.count != mapping.columns.count {
          mapping = try mapping.extended(to: batch.columns)
          codes.reset()
        }
        if let masking = mapping.masking {
          if isRetry { masking.refuseCovered(batch) }
          try masking.mask(batch, reader.rejectForm)
        }
        var converter = RecordConverter(batch, mapping, mode, bytesRead: reader.bytesRead, codes, hash: hash)
        let converted = try interruption.limit { try converter.convert(for: coordinator) }
        if let refusal = converted.refusal { throw refusal }
        deliver(.success(converted))
      } catch {
        deliver(.failure(error))
        break
      }
    }
    filled.signal()
  }

  private func releaseGarbage() {
    let garbage = state.withLock { state in
      defer { state.garbage = [] }
      return state.garbage
    }
    withExtendedLifetime(garbage) {}
  }

  private func deliver(_ result: Result<ConvertedBatch, any Error>) {
    state.withLock { $0.ready.append(result) }
    filled.signal()
  }
}
