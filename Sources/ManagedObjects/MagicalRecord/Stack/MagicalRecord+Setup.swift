extension MagicalRecord {
  /// Sets up a stack in memory, gone when it is cleaned up. Stores in files are set up by `SQLiteStore`.
  /// Source: `setupCoreDataStackWithInMemoryStore`.
  @discardableResult
  public static func setupStackWithInMemoryStore(
    model: ManagedObjectModel, nesting: MagicalStack.Nesting = .savingContext
  ) throws -> MagicalStack {
    let stack = try MagicalStack.inMemory(model: model, nesting: nesting)
    setUp(stack)
    return stack
  }
}
