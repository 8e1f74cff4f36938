public import ManagedObjects

extension MagicalRecord {
  /// The context of the main queue of the program's stack. Source: `MR_defaultContext`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func defaultContext() throws -> ManagedObjectContext { try currentStack().defaultContext }

  /// The context that writes for the others in the program's stack; nil without nesting. Source: `MR_rootSavingContext`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func rootSavingContext() throws -> ManagedObjectContext? { try currentStack().rootSavingContext }

  /// A new context of a queue of its own, which saves to where the default context saves to. Source: `MR_context`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func newPrivateContext(name: String? = nil) throws -> ManagedObjectContext {
    try currentStack().newPrivateContext(name: name)
  }

  /// Resets the default context on the main queue, asynchronously: its unsaved changes are lost.
  /// Source: `MR_resetDefaultContext`.
  /// - Throws: ``MagicalRecordError/noStack``.
  public static func resetDefaultContext() throws {
    let context = try defaultContext()
    context.perform { context.reset() }
  }
}

extension ManagedObjectContext {
  /// Marks objects for deletion by the next save. Source: `MR_deleteObjects:`.
  public func deleteObjects(_ objects: some Sequence<ManagedObject>) {
    for object in objects { delete(object) }
  }

  /// The context's name and those above it, for messages. May be read anywhere. Source: `MR_parentChain`.
  public var parentChain: String {
    var names: [String] = []
    var next: ManagedObjectContext? = self
    while let context = next {
      names.append(context.name ?? "without a name")
      next = context.parent
    }
    return names.joined(separator: " → ")
  }
}
