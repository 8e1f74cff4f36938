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
  /// What is fetched.
  public var fetchRequest: FetchRequest<T>
  /// Called on the context's queue when the fetch has ended, also when it failed or was cancelled.
  public var completionBlock: ((AsynchronousFetchResult<T>) -> Void)?
  /// How many objects will come, for the progress; 0 when nobody knows, and the progress is indeterminate.
  public var estimatedResultCount = 0

  /// A request that tells of its end.
  public init(fetchRequest: FetchRequest<T>, completionBlock: ((AsynchronousFetchResult<T>) -> Void)? = nil) {
    self.fetchRequest = fetchRequest
    self.completionBlock = completionBlock
  }
}

/// An asynchronous fetch under way, and what came of it. It belongs to its context's queue, as its objects do; only its
/// ``progress`` may be taken elsewhere, and cancels the fetch from there.
///
/// Source: Core Data's `NSAsynchronousFetchResult`.
public final class AsynchronousFetchResult<T: ManagedObject> {
  /// What was asked for.
  public let fetchRequest: AsynchronousFetchRequest<T>
  /// The context that fetches.
  public let managedObjectContext: ManagedObjectContext
  /// How many objects have come; moved on on the context's queue. Part of the progress that is current on the calling
  /// thread, if there is one.
  public let progress: Progress
  /// The objects, once all are there; nil before, and after an error.
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

  /// Stops the fetch; it ends with an error soon after. Without effect when it has ended.
  public func cancel() {
    // The progress tells its handler on another thread, some time later.
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

/// Whom a monitor, which its result holds, tells of rows.
private final class NotedResult<T: ManagedObject>: @unchecked Sendable {
  // Sendable: touched on the context's queue only.
  weak var result: AsynchronousFetchResult<T>?
}

/// A result on its way through the background, where nobody touches it.
private struct ResultInTransit<T: ManagedObject>: @unchecked Sendable {
  // Sendable: the result is touched on its context's queue only; the reading thread just hands it on.
  let result: AsynchronousFetchResult<T>
}

extension ManagedObjectContext {
  /// Begins a fetch in the background and returns at once. To be called on the context's queue, which has to be a queue:
  /// its own or the main one.
  ///
  /// Rows are read on another thread; objects are made of them on the context's queue, where the completion is called.
  /// Unsaved changes that there are then count as in ``fetch(_:)``, which reads on the context's queue in that case; so
  /// does prefetching. Source: `execute(_:)` with an `NSAsynchronousFetchRequest` of Core Data.
  /// - Throws: ``FetchRequestError/noQueue``, or what ``fetch(_:)`` throws of a request that doesn't fit the model.
  @discardableResult
  public func execute<T: ManagedObject>(
    _ request: AsynchronousFetchRequest<T>
  ) throws -> AsynchronousFetchResult<T> {
    home.check()
    mergeWaitingSaves()
    takePromotedIDs()
    try throwDeferredError()
    guard let queue else { throw FetchRequestError.noQueue }
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
    let source = source
    BackgroundReading.queue.async {
      let found = Result { try read.read(from: source, monitor) }
      self.perform {
        if transit.result.progress.isCancelled { monitor.cancel() }
        transit.result.end(Result { try self.finish(found.get(), read, plain, fetch, monitor) })
      }
    }
    return result
  }

  /// Fetches in the background, and gives the objects to `body` on the context's queue. Neither that queue nor the
  /// caller's thread waits for the store.
  ///
  /// Cancelling the task stops the fetch. What `body` returns must be `Sendable`, so that no object leaves.
  /// Unsaved changes count as in ``execute(_:)``.
  /// - Throws: `CancellationError`, ``FetchRequestError/noQueue``, or what ``fetch(_:)`` and `body` throw.
  public func fetch<T: ManagedObject, R: Sendable>(
    _ request: FetchRequest<T>, _ body: @escaping @Sendable ([T]) throws -> R
  ) async throws -> R {
    guard queue != nil else { throw FetchRequestError.noQueue }
    let (source, fetch, read) = try await perform {
      try self.throwDeferredError()
      let fetch = try self.bind(request)
      return (self.source, fetch, try ObjectRead(fetch, request))
    }
    let monitor = FetchMonitor()
    let found = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        BackgroundReading.queue.async {
          continuation.resume(with: Result { try read.read(from: source, monitor) })
        }
      }
    } onCancel: {
      monitor.cancel()
    }
    return try await perform { try body(self.finish(found, read, request, fetch, monitor)) }
  }

  /// The objects of what was read in the background.
  private func finish<T: ManagedObject>(
    _ found: ObjectRead.Result, _ read: ObjectRead, _ request: FetchRequest<T>, _ fetch: StoreFetch,
    _ monitor: FetchMonitor
  ) throws -> [T] {
    guard !monitor.isCancelled else { throw CancellationError() }
    if request.includesPendingChanges, hasPendingChanges(of: fetch.entity) {
      return typed(try objects(fetch, request), fetch)
    }
    return typed(try objects(found, read), fetch)
  }
}

/// Where rows are read while no context waits: threads of Dispatch, for a store may block them, which those of Swift's
/// concurrency mustn't be.
private enum BackgroundReading {
  static let queue = DispatchQueue(label: "context.fetching", attributes: .concurrent)
}
