import Dispatch
import ManagedObjects
import Synchronization

/// Reads and converts batches on a thread of its own, one or two ahead of the thread that writes.
///
/// Batches are handed over whole, so that the two threads meet once in thousands of records. Three record batches go
/// round: one being filled, one waiting, one being written.
final class BatchPipeline: @unchecked Sendable {
  // Sendable: `state` is behind its lock; `reader` and `mapping` are touched by the reading thread only, between
  // `start` and the end of the pipeline.

  private struct State {
    var ready: [Result<ConvertedBatch, any Error>] = []
    var spare: [RecordBatch] = [RecordBatch(), RecordBatch(), RecordBatch()]
    var waste: [(ConvertedBatch, DetachedObjects?)] = []
    var isStopped = false
  }

  private let reader: any RecordReader
  private let batchSize: Int
  private let mode: ImportOptions.Mode
  private var mapping: RecordMapping
  private let state = Mutex(State())
  private let filled = DispatchSemaphore(value: 0)
  // Begun at zero and raised: Dispatch stops a program that lets go of a semaphore below the value it began with.
  private let emptied = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  private let coordinator: PersistentStoreCoordinator

  init(
    reader: any RecordReader, mapping: RecordMapping, mode: ImportOptions.Mode, batchSize: Int,
    coordinator: PersistentStoreCoordinator
  ) {
    self.mode = mode
    self.coordinator = coordinator
    self.reader = reader
    self.mapping = mapping
    self.batchSize = batchSize
    for _ in 0..<3 { emptied.signal() }
    DispatchQueue(label: "import.reader").async { self.readAll() }
  }

  /// The next batch, nil after the last.
  /// - Throws: what ended the reading; every batch before it has been handed over.
  func next() throws -> ConvertedBatch? {
    filled.wait()
    let result = state.withLock { $0.ready.isEmpty ? nil : $0.ready.removeFirst() }
    guard let result else {
      // The end is found by every later call too.
      filled.signal()
      return nil
    }
    return try result.get()
  }

  /// Gives a batch's memory back to the reader, whose thread has the time to let go of tens of thousands of objects.
  func recycle(_ batch: ConvertedBatch, _ remains: DetachedObjects?) {
    state.withLock {
      $0.spare.append(batch.source)
      $0.waste.append((batch, remains))
    }
    emptied.signal()
  }

  /// Ends the reading, and waits until the source isn't touched any more.
  func stop() {
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
      discardWaste()
      do {
        guard try reader.read(into: batch, limit: batchSize) else { break }
        if batch.columns.count != mapping.columns.count {
          mapping = try RecordMapping(
            mapping.rules, columns: batch.columns, mayNest: mapping.mayNest, nestedMappings: mapping.nestedMappings)
        }
        let converted = ConvertedBatch(source: batch, mapping: mapping, mode: mode, bytesRead: reader.bytesRead)
        converted.convert(for: coordinator)
        hand(.success(converted))
      } catch {
        hand(.failure(error))
        break
      }
    }
    filled.signal()
  }

  private func discardWaste() {
    let waste = state.withLock { state in
      defer { state.waste = [] }
      return state.waste
    }
    withExtendedLifetime(waste) {}
  }

  private func hand(_ result: Result<ConvertedBatch, any Error>) {
    state.withLock { $0.ready.append(result) }
    filled.signal()
  }
}
