public import Foundation

/// One save or batch request that changed a store. Source: Core Data's `NSPersistentHistoryTransaction`.
public struct PersistentHistoryTransaction: Sendable, Hashable {
  /// Its number in its store: greater than that of every earlier one, and never reused.
  public let transactionNumber: Int64
  /// When it was committed, to the microsecond.
  public let timestamp: Date
  /// The ``ManagedObjectContext/transactionAuthor`` of the context that saved.
  public let author: String?
  /// The name of the context that saved.
  public let contextName: String?
  /// The number of the process that saved.
  public let processID: Int32
  /// The identifier of its store.
  public let storeIdentifier: String
  /// What it changed, in the order of writing; nil when the request asked for transactions only.
  public let changes: [PersistentHistoryChange]?

  /// A transaction, as a store with a history reads it.
  public init(
    transactionNumber: Int64, timestamp: Date, author: String?, contextName: String?, processID: Int32,
    storeIdentifier: String, changes: [PersistentHistoryChange]?
  ) {
    self.transactionNumber = transactionNumber
    self.timestamp = timestamp
    self.author = author
    self.contextName = contextName
    self.processID = processID
    self.storeIdentifier = storeIdentifier
    self.changes = changes
  }

  /// The place in the history after it.
  public var token: PersistentHistoryToken { PersistentHistoryToken([storeIdentifier: transactionNumber]) }

  /// A notification for ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(Notification)``: the changed objects' IDs
  /// under the keys of a did-save notification. Its user info is what
  /// ``ManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)`` takes.
  public func objectIDNotification() -> Notification {
    var ids: [ManagedObjectContext.NotificationKey: Set<ManagedObjectID>] = [:]
    for change in changes ?? [] {
      switch change.changeType {
      case .insert: ids[.insertedObjectIDs, default: []].insert(change.changedObjectID)
      case .update: ids[.updatedObjectIDs, default: []].insert(change.changedObjectID)
      case .delete: ids[.deletedObjectIDs, default: []].insert(change.changedObjectID)
      }
    }
    return Notification(
      name: ManagedObjectContext.didSaveObjectIDsNotification, object: nil,
      userInfo: Dictionary(uniqueKeysWithValues: ids.map { ($0.key.rawValue as AnyHashable, $0.value as Any) }))
  }
}

/// A transaction's change of one object. Source: Core Data's `NSPersistentHistoryChange`.
public struct PersistentHistoryChange: Sendable, Hashable {
  /// What was done.
  public enum ChangeType: String, Sendable, Hashable, CaseIterable {
    case insert, update, delete
  }

  /// Its number in its store, in the order of writing.
  public let changeID: Int64
  /// The object.
  public let changedObjectID: ManagedObjectID
  /// The kind of change.
  public let changeType: ChangeType
  /// Of an update, the names of the properties that changed.
  public let updatedProperties: Set<String>
  /// Of a deletion, the last values of the attributes that the model keeps in history: `preservesValueInHistoryOnDeletion`.
  public let tombstone: [String: Value]

  /// A change, as a store with a history reads it.
  public init(
    changeID: Int64, changedObjectID: ManagedObjectID, changeType: ChangeType, updatedProperties: Set<String>,
    tombstone: [String: Value]
  ) {
    self.changeID = changeID
    self.changedObjectID = changedObjectID
    self.changeType = changeType
    self.updatedProperties = updatedProperties
    self.tombstone = tombstone
  }
}

/// A place in the history of a coordinator's stores: everything up to it has been seen.
///
/// Source: Core Data's `NSPersistentHistoryToken`; a value here, which can be kept as JSON between runs.
public struct PersistentHistoryToken: Sendable, Hashable, Codable {
  /// The number of the last transaction, by the store's identifier.
  let numbers: [String: Int64]

  package init(_ numbers: [String: Int64]) { self.numbers = numbers }

  /// The number of the last transaction that the token includes, of a store; nil when it says nothing of the store.
  public func transactionNumber(ofStore identifier: String) -> Int64? { numbers[identifier] }

  /// The later place of both, store by store.
  public func merging(_ other: PersistentHistoryToken) -> PersistentHistoryToken {
    PersistentHistoryToken(numbers.merging(other.numbers) { max($0, $1) })
  }
}
