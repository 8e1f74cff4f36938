import Dispatch
public import ManagedObjects
import Synchronization

/// The outcome of a save.
public enum MagicalSaveOutcome: Sendable {
  /// Changes were written.
  case saved
  /// There was nothing to write.
  case noChanges
  /// One level failed and wrote nothing; the levels below it have saved.
  case failed(any Error)

  /// Whether changes were written.
  public var didSave: Bool {
    if case .saved = self { return true }
    return false
  }

  /// Why it failed; nil when it didn't.
  public var error: (any Error)? {
    if case .failed(let error) = self { return error }
    return nil
  }
}

/// How a save is carried out. Source: `MRSaveOptions` of MagicalRecord.
public struct MagicalSaveOptions: OptionSet, Sendable {
  /// The options as bits.
  public let rawValue: Int
  /// Options from bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The contexts above are saved too, up to the store.
  public static let parentContexts = MagicalSaveOptions(rawValue: 1 << 0)
  /// The caller waits for it.
  public static let synchronously = MagicalSaveOptions(rawValue: 1 << 1)
}

// A block is given its context, whose methods are these; its queue has them for any thread.
extension ManagedObjectContext {
  /// Called at a save's end, on the main queue.
  public typealias SaveCompletion = @Sendable (MagicalSaveOutcome) -> Void

  /// Saves this context, one level up, and returns without waiting. See ``ContextQueue/saveOnlySelf(completion:)``.
  public func saveOnlySelf(completion: SaveCompletion? = nil) { queue.saveOnlySelf(completion: completion) }

  /// Saves this context, one level up. See ``ContextQueue/saveOnlySelfAndWait()``.
  @discardableResult
  public func saveOnlySelfAndWait() -> MagicalSaveOutcome { queue.saveOnlySelfAndWait() }

  /// Saves this context and every one above it, and returns without waiting.
  /// See ``ContextQueue/saveToPersistentStore(completion:)``.
  public func saveToPersistentStore(completion: SaveCompletion? = nil) {
    queue.saveToPersistentStore(completion: completion)
  }

  /// Saves this context and every one above it, and waits for it. See ``ContextQueue/saveToPersistentStoreAndWait()``.
  @discardableResult
  public func saveToPersistentStoreAndWait() -> MagicalSaveOutcome { queue.saveToPersistentStoreAndWait() }

  /// Saves with options. See ``ContextQueue/save(_:completion:)``.
  public func save(_ options: MagicalSaveOptions, completion: SaveCompletion? = nil) {
    queue.save(options, completion: completion)
  }

  /// Runs a block in a new child of this context and saves it up to the store. See ``ContextQueue/save(_:completion:)-(_,_)``.
  public func save(
    _ block: @escaping @Sendable (ManagedObjectContext) throws -> Void, completion: SaveCompletion? = nil
  ) {
    queue.save(block, completion: completion)
  }

  /// The same, and waits for it. See ``ContextQueue/saveAndWait(_:)``.
  @discardableResult
  public func saveAndWait(_ block: @Sendable (ManagedObjectContext) throws -> Void) throws -> Bool {
    try queue.saveAndWait(block)
  }

  /// Saves a context that the caller is using, up to the store, without waiting for the contexts above it.
  func saveFromOwnThread(completion: SaveCompletion?) {
    // The turn of another chain of saves may come on any thread, where a thread's context can't be saved.
    guard concurrencyType == .confinement else { return saveToPersistentStore(completion: completion) }
    let outcome = saveLevel(isTold: completion != nil)
    guard let parent, outcome.error == nil else { return Self.complete(outcome, completion) }
    parent.saveUpwards(outcome, isTold: completion != nil) { Self.complete($0, completion) }
  }

  /// - Parameter isTold: whether the caller receives the error, so that it needn't be logged.
  fileprivate func saveLevel(isTold: Bool) -> MagicalSaveOutcome {
    let name = name ?? "without a name"
    guard hasChanges else {
      MagicalRecord.log(.warn, "nothing to save in the context \(name)")
      return .noChanges
    }
    do {
      try save()
      MagicalRecord.log(.verbose, "the context \(name) was saved")
      return .saved
    } catch {
      MagicalRecord.handle(error, "the context \(name) couldn't be saved", isLogged: !isTold)
      return .failed(error)
    }
  }

  static func complete(_ outcome: MagicalSaveOutcome, _ completion: SaveCompletion?) {
    guard let completion else { return }
    DispatchQueue.main.async { completion(outcome) }
  }
}

extension ContextQueue {
  /// Called at a save's end, on the main queue.
  public typealias SaveCompletion = ManagedObjectContext.SaveCompletion

  /// Saves this context, one level up, and returns without waiting. May be called from anywhere.
  /// Source: `MR_saveOnlySelfWithCompletion:`.
  public func saveOnlySelf(completion: SaveCompletion? = nil) {
    perform { context in
      ManagedObjectContext.complete(context.saveLevel(isTold: completion != nil), completion)
    }
  }

  /// Saves this context, one level up, and waits for it. May be called from anywhere.
  /// Source: `MR_saveOnlySelfAndWait`.
  @discardableResult
  public func saveOnlySelfAndWait() -> MagicalSaveOutcome {
    performAndWait { context in context.saveLevel(isTold: false) }
  }

  /// Saves this context and every one above it, each on its own queue, up to the store, and returns without waiting. May
  /// be called from anywhere, also on the main queue.
  /// Source: `MR_saveToPersistentStoreWithCompletion:`.
  public func saveToPersistentStore(completion: SaveCompletion? = nil) {
    saveUpwards(.noChanges, isTold: completion != nil) { ManagedObjectContext.complete($0, completion) }
  }

  /// Saves this context and every one above it, up to the store, and waits for it. May be called from anywhere; on the main queue
  /// it blocks that queue until the store has written.
  /// Source: `MR_saveToPersistentStoreAndWait`.
  @discardableResult
  public func saveToPersistentStoreAndWait() -> MagicalSaveOutcome {
    var outcome = MagicalSaveOutcome.noChanges
    var next: ContextQueue? = self
    while let context = next {
      outcome = outcome.followed(by: context.saveOnlySelfAndWait())
      if case .failed = outcome { break }
      next = context.parent
    }
    return outcome
  }

  /// Saves this context and every one above it, each on its own queue, up to the store, without blocking a thread.
  ///
  /// No queue waits for another's write: while the topmost context writes to the store, the one below it waits neither to save nor,
  /// in a `privateWriter` stack, to fetch. Several such saves write one after the other. After an error the changes are in the
  /// context that couldn't save them. Not for a confinement context, which belongs to a thread.
  /// - Returns: whether there was anything to write.
  /// - Throws: the error of the level that failed.
  @discardableResult
  public func saveToPersistentStore() async throws -> Bool {
    let outcome = await withCheckedContinuation { continuation in
      saveUpwards(.noChanges, isTold: true) { continuation.resume(returning: $0) }
    }
    if let error = outcome.error { throw error }
    return outcome.didSave
  }

  /// Saves with options. May be called from anywhere; see the methods that the options correspond to.
  /// Source: `MR_saveWithOptions:completion:`.
  /// - Parameter completion: called at the end on the main queue, also after a synchronous save.
  public func save(_ options: MagicalSaveOptions, completion: SaveCompletion? = nil) {
    switch (options.contains(.synchronously), options.contains(.parentContexts)) {
    case (false, false): saveOnlySelf(completion: completion)
    case (false, true): saveToPersistentStore(completion: completion)
    case (true, false): ManagedObjectContext.complete(saveOnlySelfAndWait(), completion)
    case (true, true): ManagedObjectContext.complete(saveToPersistentStoreAndWait(), completion)
    }
  }

  /// Runs a block in a new child of this context, on a queue of its own, and saves its changes up to the store: through this context,
  /// whose unsaved changes are saved too. Returns without waiting; a block that throws saves nothing.
  /// Source: `MR_saveWithBlock:completion:`.
  /// - Parameter completion: called at the end on the main queue.
  public func save(
    _ block: @escaping @Sendable (ManagedObjectContext) throws -> Void, completion: SaveCompletion? = nil
  ) {
    ContextQueue(.privateQueue, parent: self, name: "save").performAndSave(block, completion: completion)
  }

  /// Runs a block in a new child of this context, and saves its changes up to the store, without blocking a thread. See
  /// ``save(_:completion:)-(_,_)``.
  /// - Returns: whether there was anything to save.
  /// - Throws: what the block throws, or the save's error.
  @discardableResult
  public func save(_ block: @escaping @Sendable (ManagedObjectContext) throws -> Void) async throws -> Bool {
    let outcome = await withCheckedContinuation { continuation in
      save(block) { continuation.resume(returning: $0) }
    }
    if let error = outcome.error { throw error }
    return outcome.didSave
  }

  /// Runs a block in a new child of this context, saves its changes up to the store, and waits for it. On the main queue it
  /// blocks that queue until the store has written. Source: `MR_saveWithBlockAndWait:`.
  /// - Returns: whether there was anything to save.
  /// - Throws: what the block throws, or the save's error.
  @discardableResult
  public func saveAndWait(_ block: @Sendable (ManagedObjectContext) throws -> Void) throws -> Bool {
    try ContextQueue(.privateQueue, parent: self, name: "save").performAndSaveAndWait(block)
  }

  /// Runs a block on this context's queue, and saves it up to the store unless the block throws.
  func performAndSave(
    _ block: @escaping @Sendable (ManagedObjectContext) throws -> Void, completion: SaveCompletion?
  ) {
    perform { context in
      do {
        try block(context)
      } catch {
        MagicalRecord.handle(error, "the block of a save failed")
        return ManagedObjectContext.complete(.failed(error), completion)
      }
      self.saveToPersistentStore(completion: completion)
    }
  }

  /// Does what ``performAndSave(_:completion:)`` does, and waits for it.
  func performAndSaveAndWait(_ block: @Sendable (ManagedObjectContext) throws -> Void) throws -> Bool {
    do {
      try performAndWait(block)
    } catch {
      MagicalRecord.handle(error, "the block of a save failed")
      throw error
    }
    let outcome = saveToPersistentStoreAndWait()
    if let error = outcome.error { throw error }
    return outcome.didSave
  }

  fileprivate func saveUpwards(_ earlier: MagicalSaveOutcome, isTold: Bool, _ done: @escaping SaveCompletion) {
    guard let parent, parent.parent != nil else { return saveInTurn(earlier, isTold: isTold, done) }
    perform { context in
      let outcome = earlier.followed(by: context.saveLevel(isTold: isTold))
      if case .failed = outcome { return done(outcome) }
      parent.saveUpwards(outcome, isTold: isTold, done)
    }
  }

  /// Saves the topmost context and the one below it under the lock of ``SaveOrder``.
  private func saveInTurn(_ earlier: MagicalSaveOutcome, isTold: Bool, _ done: @escaping SaveCompletion) {
    let root = parent ?? self
    @Sendable func end(_ outcome: MagicalSaveOutcome) {
      SaveOrder.leave(root)
      done(outcome)
    }
    SaveOrder.enter(root) {
      perform { context in
        let outcome = earlier.followed(by: context.saveLevel(isTold: isTold))
        if case .failed = outcome { return end(outcome) }
        guard let parent else { return end(outcome) }
        parent.perform { parent in end(outcome.followed(by: parent.saveLevel(isTold: isTold))) }
      }
    }
  }
}

extension MagicalSaveOutcome {
  /// The outcome of two levels.
  fileprivate func followed(by next: MagicalSaveOutcome) -> MagicalSaveOutcome {
    if case .noChanges = next { return self }
    return next
  }
}

/// A FIFO lock for each context that saves to a store: one chain of saves at a time, in the order of arrival, without blocking
/// a thread.
///
/// A context pushes its changes into its parent by waiting for the parent's queue. While the parent isn't writing, the
/// child doesn't wait for the disk. Safe from any thread.
enum SaveOrder {
  /// The closures that wait, by the context whose lock is taken.
  private static let waiting = Mutex<[ContextQueue: [@Sendable () -> Void]]>([:])

  /// Runs `body` once it holds the lock of `root`, until ``leave(_:)``.
  static func enter(_ root: ContextQueue, _ body: @escaping @Sendable () -> Void) {
    let isFree = waiting.withLock { waiting in
      let isFree = waiting[root] == nil
      if isFree { waiting[root] = [] } else { waiting[root]?.append(body) }
      return isFree
    }
    if isFree { body() }
  }

  /// Hands the lock of `root` to the closure that has waited longest.
  static func leave(_ root: ContextQueue) {
    let next = waiting.withLock { waiting -> (@Sendable () -> Void)? in
      guard waiting[root]?.isEmpty == false else {
        waiting[root] = nil
        return nil
      }
      return waiting[root]?.removeFirst()
    }
    next?()
  }
}
