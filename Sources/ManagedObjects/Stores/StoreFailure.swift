/// Why a store couldn't read or write, in terms that every kind of store shares.
///
/// A store creates it where it meets the failure and throws it as ``ManagedObjectError/store(_:)``. Callers decide by its
/// ``kind`` alone; the store's own code is in the ``detail``, for people.
public struct StoreFailure: Error, Sendable, Hashable {
  /// What kind of failure it is.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The disk or the quota is full.
    case full
    /// Another connection or process holds a lock for longer than the store waits.
    case busy
    /// The content is damaged.
    case corrupt
    /// The file isn't a store of this kind.
    case notAStore
    /// A device failed to read or write.
    case io
    /// The file can't be opened, for a reason that the store doesn't know.
    case cannotOpen
    /// The user of the process has no permission.
    case permission
    /// The file or its file system is read-only, or the file was moved away.
    case readOnly
    /// A constraint of the store refuses a row.
    case constraint
    /// A value is outside the range that the store can hold.
    case outOfRange
    /// A query has more conditions, sort keys or columns than the store can take.
    case tooComplex
    /// The operation was interrupted.
    case interrupted
    /// There isn't enough memory.
    case outOfMemory
    /// Anything else; see the message.
    case other
  }

  /// What kind of failure it is.
  public let kind: Kind
  /// The store's file; empty for a store without one.
  public let path: String
  /// What happened, in the store's words.
  public let message: String
  /// The store's own name or code of the failure, to look up in its manual; nil when it has none.
  public let detail: String?

  /// A failure of a store.
  public init(_ kind: Kind, path: String = "", message: String, detail: String? = nil) {
    self.kind = kind
    self.path = path
    self.message = message
    self.detail = detail
  }
}

extension StoreFailure: CustomStringConvertible {
  /// Where it happened, what happened, and the store's own code.
  public var description: String {
    (path.isEmpty ? "" : path + ": ") + message + (detail.map { " (\($0))" } ?? "")
  }
}
