/// Why an object's values became others than the program set.
///
/// Source: Core Data's `NSSnapshotEventType`.
public struct SnapshotEventType: OptionSet, Sendable {
  /// The events as bits, Core Data's.
  public let rawValue: Int

  /// The events with those bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An insertion was undone.
  public static let undoInsertion = SnapshotEventType(rawValue: 1 << 1)
  /// A deletion was undone.
  public static let undoDeletion = SnapshotEventType(rawValue: 1 << 2)
  /// A change was undone.
  public static let undoUpdate = SnapshotEventType(rawValue: 1 << 3)
  /// The context's changes were rolled back.
  public static let rollback = SnapshotEventType(rawValue: 1 << 4)
  /// The object took on what the store has.
  public static let refresh = SnapshotEventType(rawValue: 1 << 5)
  /// A merge policy chose the values.
  public static let mergePolicy = SnapshotEventType(rawValue: 1 << 6)
}
