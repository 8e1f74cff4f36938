/// How a save goes on when the store, or the parent context, doesn't hold what the context has read, or holds a row with
/// the same unique values already.
///
/// ```swift
/// context.mergePolicy = .mergeByPropertyObjectTrump
/// ```
///
/// A policy changes the context's objects so that the save can be tried again; the save is tried a few times, for the
/// store may change once more meanwhile, and then fails with the conflicts that are left.
///
/// Uniqueness conflicts are resolved as if the objects had been saved one after the other: a new object becomes the row
/// that has its unique values already, under that row's ID, and what was changed of it since its insertion (what differs
/// from the model's defaults) meets what the row holds. References to the new object lead to the row from then on. If
/// somebody holds the row's object in the same context, that one stays and the new one leaves the context. A saved object
/// that takes another row's unique values displaces that row when the object trumps, and gives the values up otherwise.
///
/// A subclass calls `super`, which does what its type says, and then changes what it likes of the context's objects. One
/// policy serves many contexts, on their queues: subclasses must be safe to share.
///
/// Source: Core Data's `NSMergePolicy`. That resolves by objects; conflicts here can cross queues and carry IDs and
/// rows, so the context is handed in beside them.
open class MergePolicy: @unchecked Sendable {
  // Sendable: constant. Subclasses promise the same of what they add.

  /// What a policy does of itself. Source: Core Data's `NSMergePolicyType`.
  public enum MergeType: Sendable {
    /// The save fails and tells the conflicts.
    case error
    /// Property by property; where both sides changed one, the store's value stays. A row that was deleted stays deleted,
    /// and one that was changed isn't deleted.
    case mergeByPropertyStoreTrump
    /// Property by property; where both sides changed one, the object's value is written. A row that was deleted is
    /// inserted again.
    case mergeByPropertyObjectTrump
    /// The object is written whole, also where only the store has changed.
    case overwrite
    /// The object's changes are given up, and it takes on what the store has.
    case rollback
  }

  /// What the policy does of itself.
  public let mergeType: MergeType

  /// A policy that does what `type` says.
  public init(merge type: MergeType) { mergeType = type }

  /// The save fails and tells the conflicts: every context's policy until it is given another.
  public static let error = MergePolicy(merge: .error)
  /// Property by property, the store's values first.
  public static let mergeByPropertyStoreTrump = MergePolicy(merge: .mergeByPropertyStoreTrump)
  /// Property by property, the object's values first.
  public static let mergeByPropertyObjectTrump = MergePolicy(merge: .mergeByPropertyObjectTrump)
  /// Objects are written whole.
  public static let overwrite = MergePolicy(merge: .overwrite)
  /// The store's rows stay as they are.
  public static let rollback = MergePolicy(merge: .rollback)

  /// Settles conflicts with rows that were changed or deleted since the objects were read. Called on the context's
  /// queue, in the middle of its save.
  ///
  /// Source: `resolve(optimisticLockingConflicts:)` of Core Data.
  /// - Throws: ``ManagedObjectError/mergeConflicts(_:)``, or whatever the save is to fail with.
  open func resolve(optimisticLockingConflicts conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
    guard mergeType != .error else { throw ManagedObjectError.mergeConflicts(conflicts) }
    try context.resolve(conflicts, by: mergeType)
  }

  /// Settles conflicts with rows, or other objects of the context, that have the same unique values. Called on the
  /// context's queue, in the middle of its save.
  ///
  /// Source: `resolve(constraintConflicts:)` of Core Data.
  /// - Throws: ``ManagedObjectError/constraintConflicts(_:)``, or whatever the save is to fail with.
  open func resolve(constraintConflicts conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws {
    guard mergeType != .error else { throw ManagedObjectError.constraintConflicts(conflicts) }
    try context.resolve(conflicts, by: mergeType)
  }
}
