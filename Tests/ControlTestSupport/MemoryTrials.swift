import Synchronization

/// Trials that hang until they are cancelled, if a test says so.
package final class MemoryTrials: Sendable {
  private let hangs = Mutex(false)
  private let began: AsyncStream<Void>.Continuation
  private let ended: AsyncStream<Void>.Continuation
  /// An element for each trial that hangs.
  package let begins: AsyncStream<Void>
  /// An element for each of these that was cancelled.
  package let ends: AsyncStream<Void>

  package init() {
    (begins, began) = AsyncStream.makeStream()
    (ends, ended) = AsyncStream.makeStream()
  }

  package var isHanging: Bool {
    get { hangs.withLock { $0 } }
    set { hangs.withLock { $0 = newValue } }
  }

  /// - Throws: `CancellationError`.
  func run() async throws {
    guard isHanging else { return }
    began.yield()
    do {
      try await Task.sleep(for: .seconds(86_400))
    } catch {
      ended.yield()
      throw error
    }
  }
}
