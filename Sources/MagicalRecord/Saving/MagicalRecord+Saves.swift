public import ManagedObjects

extension MagicalRecord {
  /// Runs a block in a new context on a queue of its own, saves its changes up to the store, and returns without waiting.
  ///
  /// A block that throws saves nothing. The default context merges the save.
  /// Source: `saveWithBlock:completion:`.
  /// - Parameter completion: called at the end on the main queue. A save without changes isn't a failure.
  public static func save(
    _ block: @escaping @Sendable (ManagedObjectContext) throws -> Void,
    completion: ManagedObjectContext.SaveCompletion? = nil
  ) {
    let context: ManagedObjectContext
    do {
      context = try currentStack().newPrivateContext(name: "save")
    } catch {
      handle(error, "nothing was saved")
      return ManagedObjectContext.complete(.failed(error), completion)
    }
    context.perform {
      do {
        try block(context)
      } catch {
        handle(error, "the block of a save failed")
        return ManagedObjectContext.complete(.failed(error), completion)
      }
      context.saveToPersistentStore(completion: completion)
    }
  }

  /// Runs a block in a new context and saves its changes up to the store, without blocking a thread.
  /// - Returns: whether there was anything to save.
  /// - Throws: what the block throws, or the save's error.
  @discardableResult
  public static func save(_ block: @escaping @Sendable (ManagedObjectContext) throws -> Void) async throws -> Bool {
    let outcome = await withCheckedContinuation { continuation in
      save(block) { continuation.resume(returning: $0) }
    }
    if let error = outcome.error { throw error }
    return outcome.didSave
  }

  /// Runs a block in a new context, saves its changes up to the store, and waits for it. On the main queue it blocks that queue
  /// until the store has written.
  /// Source: `saveWithBlockAndWait:`.
  /// - Returns: whether there was anything to save.
  /// - Throws: what the block throws, or the save's error.
  @discardableResult
  public static func saveAndWait(_ block: @Sendable (ManagedObjectContext) throws -> Void) throws -> Bool {
    let context = try currentStack().newPrivateContext(name: "save")
    do {
      try context.performAndWait { try block(context) }
    } catch {
      handle(error, "the block of a save failed")
      throw error
    }
    let outcome = context.saveToPersistentStoreAndWait()
    if let error = outcome.error { throw error }
    return outcome.didSave
  }

  /// Runs a block with the calling thread's context (see ``contextForCurrentThread()``), and saves it up to the store,
  /// waiting for it. Earlier unsaved changes of the context are saved too; after an error all changes stay there.
  /// Source: `saveUsingCurrentThreadContextWithBlockAndWait:`.
  /// - Returns: whether there was anything to save.
  /// - Throws: what the block throws, or the save's error.
  @discardableResult
  public static func saveUsingCurrentThreadContextAndWait(
    _ block: (ManagedObjectContext) throws -> Void
  ) throws -> Bool {
    let context = try contextForCurrentThread()
    do {
      try block(context)
    } catch {
      handle(error, "the block of a save failed")
      throw error
    }
    let outcome = context.saveToPersistentStoreAndWait()
    if let error = outcome.error { throw error }
    return outcome.didSave
  }
}
