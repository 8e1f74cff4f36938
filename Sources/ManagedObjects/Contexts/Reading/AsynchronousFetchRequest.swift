public import Foundation

/// A fetch that is read in the background, while the context's queue goes on with other work.
///
/// ```swift
/// let result = try context.execute(AsynchronousFetchRequest(fetchRequest: request) { result in
///   show(result.finalResult ?? [])
/// })
/// cancelButton.action = { result.cancel() }
/// ```
///
/// Source: Core Data's `NSAsynchronousFetchRequest`.
public struct AsynchronousFetchRequest<T: ManagedObject> {
  /// The fetch.
  public var fetchRequest: FetchRequest<T>
  /// Called on the context's queue when the fetch has ended, also when it failed or was cancelled.
  public var completionBlock: ((AsynchronousFetchResult<T>) -> Void)?
  /// The number of objects expected, for the progress; 0 when it is unknown, which makes the progress indeterminate.
  public var estimatedResultCount = 0

  /// A request with a completion.
  public init(fetchRequest: FetchRequest<T>, completionBlock: ((AsynchronousFetchResult<T>) -> Void)? = nil) {
    self.fetchRequest = fetchRequest
    self.completionBlock = completionBlock
  }
}

/// A running asynchronous fetch, and its result. It belongs to its context's queue, like its objects; only its ``progress``
/// may be taken elsewhere, and can cancel the fetch from there.
///
/// Source: Core Data's `NSAsynchronousFetchResult`.
public final class AsynchronousFetchResult<T: ManagedObject> {
  /// The request.
  public let fetchRequest: AsynchronousFetchRequest<T>
  /// The context that fetches.
  public let managedObjectContext: ManagedObjectContext
  /// The number of objects read so far, updated on the context's queue. A child of the calling thread's current progress, if
  /// there is one.
  public let progress: Progress
  /// The objects, once all have been read; nil before that, and after an error.
  public private(set) var finalResult: [T]?
  /// Why there are no objects; `CancellationError` when the fetch was cancelled.
  public private(set) var operationError: (any Error)?

  fileprivate let monitor: FetchMonitor

  fileprivate init(
    _ request: AsynchronousFetchRequest<T>, _ context: ManagedObjectContext, _ progress: Progress,
    _ monitor: FetchMonitor
  ) {
    fetchRequest = request
    managedObjectContext = context
    self.progress = progress
    self.monitor = monitor
  }

  /// Stops the fetch, which ends with an error soon after. No effect when it has ended.
  public func cancel() {
    // The progress calls its handler on another thread, some time later.
    monitor.cancel()
    progress.cancel()
  }

  fileprivate func note(_ rows: Int) {
    if finalResult == nil, operationError == nil { progress.completedUnitCount = Int64(rows) }
  }

  fileprivate func end(_ result: Result<[T], any Error>) {
    switch result {
    case .success(let objects):
      finalResult = objects
      progress.totalUnitCount = Int64(objects.count)
      progress.completedUnitCount = Int64(objects.count)
    case .failure(let error): operationError = error
    }
    fetchRequest.completionBlock?(self)
  }
}

/// The result that a monitor reports rows to. Weak, because the result holds the monitor.
private final class NotedResult<T: ManagedObject>: @unchecked Sendable {
  // Sendable: touched on the context's queue only.
  weak var result: AsynchronousFetchResult<T>?
}

/// A result on its way through the background, where it isn't touched.
private struct ResultInTransit<T: ManagedObject>: @unchecked Sendable {
  // Sendable: the result is touched on its context's queue only; the reading thread only passes it on.
  let result: AsynchronousFetchResult<T>
}

extension ManagedObjectContext {
  /// Starts a fetch in the background and returns at once. To be called on the context's queue, which has to be its own or
  /// the main queue.
  ///
  /// Rows are read on another thread. The context's queue makes objects of them and calls the completion. If there are unsaved
  /// changes by then, they count as in ``fetch(_:)``, and the fetch is repeated on the context's queue. If the context has
  /// merged or saved something, the rows may be older than its objects and are read again in the background, or on the
  /// context's queue after a few times. Prefetching reads on the context's queue, too. Source: `execute(_:)` with an `NSAsynchronousFetchRequest` of Core Data.
  /// - Throws: ``FetchRequestError/noQueue``, or what ``fetch(_:)`` throws for a request that doesn't fit the model.
  @discardableResult
  public func execute<T: ManagedObject>(
    _ request: AsynchronousFetchRequest<T>
  ) throws -> AsynchronousFetchResult<T> {
    try prepareToRead()
    guard let queue = dispatchQueue else { throw FetchRequestError.noQueue }
    let (plain, fetch) = (request.fetchRequest, try bind(request.fetchRequest))
    let read = try ObjectRead(fetch, plain)
    let estimate = request.estimatedResultCount
    let noted = NotedResult<T>()
    let monitor = FetchMonitor { rows in queue.async { noted.result?.note(rows) } }
    let result = AsynchronousFetchResult(
      request, self, Progress(totalUnitCount: estimate > 0 ? Int64(estimate) : -1), monitor)
    noted.result = result
    let transit = ResultInTransit(result: result)
    result.progress.isCancellable = true
    result.progress.cancellationHandler = { monitor.cancel() }
    readInBackground(read, plain, fetch, monitor, for: transit)
    return result
  }

  /// Reads rows in the background, and ends the result with their objects on this context's queue.
  /// - Parameter attempt: how often they have been read by then.
  private func readInBackground<T: ManagedObject>(
    _ read: ObjectRead, _ request: FetchRequest<T>, _ fetch: StoreFetch, _ monitor: FetchMonitor,
    for transit: ResultInTransit<T>, attempt: Int = 1
  ) {
    let (source, contextQueue, before) = (source, queue, mergeQueue.takenSaves)
    BackgroundReading.queue.async {
      let found = Result { try read.read(from: source, monitor) }
      contextQueue.perform { context in
        if transit.result.progress.isCancelled { monitor.cancel() }
        let isCurrent = context.mergeQueue.takenSaves == before
        if !isCurrent, attempt < BackgroundReading.attempts, !monitor.isCancelled, (try? found.get()) != nil {
          return context.readInBackground(read, request, fetch, monitor, for: transit, attempt: attempt + 1)
        }
        transit.result.end(
          Result { try context.finish(found.get(), read, request, fetch, monitor, isCurrent: isCurrent) })
      }
    }
  }
}

extension ContextQueue {
  /// Fetches in the background, and passes the objects to `body` on the context's queue. Neither that queue nor the caller's
  /// thread waits for the store.
  ///
  /// Cancelling the task stops the fetch. The result of `body` must be `Sendable`, so that no object leaves.
  /// Unsaved changes count as in ``execute(_:)``.
  /// - Throws: `CancellationError`, ``FetchRequestError/noQueue``, or what ``fetch(_:)`` and `body` throw.
  public func fetch<T: ManagedObject, R: Sendable>(
    _ request: FetchRequest<T>, _ body: @escaping @Sendable ([T]) throws -> R
  ) async throws -> R {
    guard concurrencyType != .confinement else { throw FetchRequestError.noQueue }
    let (source, fetch, read) = try await perform { context in
      try context.throwDeferredError()
      let fetch = try context.bind(request)
      return (context.source, fetch, try ObjectRead(fetch, request))
    }
    let monitor = FetchMonitor()
    var attempt = 0
    while true {
      attempt += 1
      let isLast = attempt == BackgroundReading.attempts
      let before = await perform { context in context.mergeQueue.takenSaves }
      let found = try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          BackgroundReading.queue.async {
            continuation.resume(with: Result { try read.read(from: source, monitor) })
          }
        }
      } onCancel: {
        monitor.cancel()
      }
      let result = try await perform { context -> R? in
        let isCurrent = context.mergeQueue.takenSaves == before
        if !isCurrent, !isLast, !monitor.isCancelled { return nil }
        return try body(context.finish(found, read, request, fetch, monitor, isCurrent: isCurrent))
      }
      if let result { return result }
    }
  }
}

extension ManagedObjectContext {
  /// The objects of the rows that were read in the background.
  /// - Parameter isCurrent: whether the context has neither merged nor saved anything since.
  fileprivate func finish<T: ManagedObject>(
    _ found: ObjectRead.Result, _ read: ObjectRead, _ request: FetchRequest<T>, _ fetch: StoreFetch,
    _ monitor: FetchMonitor, isCurrent: Bool
  ) throws -> [T] {
    guard !monitor.isCancelled else { throw CancellationError() }
    if !isCurrent || (request.includesPendingChanges && changeSet.concerns(hierarchyOf: fetch.entity)) {
      return typed(try objects(fetch, request), fetch)
    }
    return typed(try objects(found, read), fetch)
  }
}

/// Reads rows on Dispatch's threads while no context waits. A store may block the thread, which threads of Swift's concurrency
/// don't allow.
private enum BackgroundReading {
  /// How often rows are read in the background before they are read on the context's queue, where no save intervenes.
  static let attempts = 3
  static let queue = DispatchQueue(label: "context.fetching", attributes: .concurrent)
}
