/// Settles the conflicts of a save: with rows that have changed in the store or the parent since the context read them, and
/// with rows that have the same unique values.
///
/// ```swift
/// context.mergePolicy = .mergeByPropertyObjectTrump
/// ```
///
/// A policy changes the context's objects, and the save is tried again. The store may change once more between two tries, so
/// the save is tried a few times and then fails with the remaining conflicts.
///
/// Uniqueness conflicts are resolved as if the objects had been saved one after the other. A new object becomes the row that
/// has its unique values, under that row's ID, and the values that differ from the model's defaults are merged with the row's.
/// From then on, references to the new object lead to the row. If the row's object is in use in the same context, it stays,
/// and the new one leaves the context. A saved object that takes another row's unique values displaces that row when the
/// object trumps, and gives the values up otherwise.
///
/// A subclass calls `super`, which does what its type says, and then may change the context's objects. One policy serves many
/// contexts on their queues, so subclasses must be safe to share.
///
/// Source: Core Data's `NSMergePolicy`, which resolves by objects. Conflicts here can cross queues and carry IDs and rows, so
/// the context is passed along with them.
open class MergePolicy: @unchecked Sendable {
  // Sendable: constant. Subclasses have to keep what they add safe to share.

  /// The resolution that a policy applies. Source: Core Data's `NSMergePolicyType`.
  public enum MergeType: Sendable {
    /// The save fails with the conflicts.
    case error
    /// Property by property; where both sides changed one, the store's value stays. A deleted row stays deleted, and a changed
    /// one isn't deleted.
    case mergeByPropertyStoreTrump
    /// Property by property; where both sides changed one, the object's value is written. A deleted row is inserted
    /// again.
    case mergeByPropertyObjectTrump
    /// The whole object is written, even where only the store has changed.
    case overwrite
    /// The object's changes are discarded, and it takes on the store's values.
    case rollback
  }

  /// The resolution that the policy applies.
  public let mergeType: MergeType

  /// A policy that applies `type`.
  public init(merge type: MergeType) { mergeType = type }

  /// The save fails with the conflicts: the default policy of a context.
  public static let error = MergePolicy(merge: .error)
  /// Property by property, the store's values first.
  public static let mergeByPropertyStoreTrump = MergePolicy(merge: .mergeByPropertyStoreTrump)
  /// Property by property, the object's values first.
  public static let mergeByPropertyObjectTrump = MergePolicy(merge: .mergeByPropertyObjectTrump)
  /// Objects are written whole.
  public static let overwrite = MergePolicy(merge: .overwrite)
  /// The store's rows stay as they are.
  public static let rollback = MergePolicy(merge: .rollback)

  /// Settles conflicts with rows that have been changed or deleted since the objects were read. Called on the context's
  /// queue, in the middle of its save.
  ///
  /// Source: `resolve(optimisticLockingConflicts:)` of Core Data.
  /// - Throws: ``ManagedObjectError/mergeConflicts(_:)``, or any other error for the save to fail with.
  open func resolve(optimisticLockingConflicts conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
    guard mergeType != .error else { throw ManagedObjectError.mergeConflicts(conflicts) }
    try MergeConflictResolver(context).resolve(conflicts, by: mergeType)
  }

  /// Settles conflicts with rows, or other objects of the context, that have the same unique values. Called on the
  /// context's queue, in the middle of its save.
  ///
  /// Source: `resolve(constraintConflicts:)` of Core Data.
  /// - Throws: ``ManagedObjectError/constraintConflicts(_:)``, or any other error for the save to fail with.
  open func resolve(constraintConflicts conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws {
    guard mergeType != .error else { throw ManagedObjectError.constraintConflicts(conflicts) }
    try ConstraintConflictResolver(context).resolve(conflicts, by: mergeType)
  }
}
