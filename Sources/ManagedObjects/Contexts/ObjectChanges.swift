import Synchronization

/// What has changed of an observed object.
public struct ObjectChange: Sendable, Equatable {
  /// The names of the properties that have changed.
  public fileprivate(set) var keys: Set<String>
  /// Their values now, relationships as IDs. Those that have to be read again, after a refresh, are missing.
  public fileprivate(set) var values: [String: Value]

  /// Adds a later change.
  fileprivate mutating func add(_ later: ObjectChange) {
    keys.formUnion(later.keys)
    for key in later.keys { values[key] = later.values[key] }
  }
}

/// The changes of one object from ``ManagedObject/observeChanges()`` on, for one consumer on any thread.
///
/// There is at most one change for each event, which is what one did-change notification announces. A consumer that is slower
/// gets several events as one change, so nothing piles up. The sequence ends when the object has no context any more: its
/// deletion was saved or merged, or the context was reset or released.
public struct ObjectChanges: AsyncSequence, Sendable {
  /// The consumer's place in the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let mailbox: ObjectChangeMailbox
    fileprivate var arrivals: AsyncStream<Void>.Iterator

    /// Waits for the next change; nil when the sequence has ended or the task was cancelled.
    public mutating func next() async -> ObjectChange? {
      while await arrivals.next() != nil {
        if let change = mailbox.take() { return change }
      }
      return nil
    }
  }

  fileprivate let mailbox: ObjectChangeMailbox

  /// Makes the iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(mailbox: mailbox, arrivals: mailbox.arrivals.makeAsyncIterator())
  }
}

/// The changes of an object that wait for its consumer, as one. Safe from any thread.
private final class ObjectChangeMailbox: Sendable {
  /// Yields when a change is waiting, and ends with the object.
  let arrivals: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation
  private let waiting = Mutex<ObjectChange?>(nil)

  init() { (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  func put(_ change: ObjectChange) {
    waiting.withLock { waiting in
      if waiting == nil { waiting = change } else { waiting?.add(change) }
    }
    arrival.yield()
  }

  func take() -> ObjectChange? {
    waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
  }

  func finish() { arrival.finish() }
}

extension ManagedObject {
  /// The changes of this object from now on: by the program, by undo, a merge, a refresh or a rollback. To be called on the
  /// context's queue; the result may be consumed anywhere.
  ///
  /// ```swift
  /// let changes = try await queue.perform { context in try context.existingObject(with: id).observeChanges() }
  /// for await change in changes where change.keys.contains("name") { print(change.values["name"] as Any) }
  /// ```
  ///
  /// A fault is read for it. The context keeps the object, and only the object, for as long as the sequence is in use. A
  /// to-many relationship that hasn't been read is named when objects at its other end may have come or gone. A refresh
  /// that makes the object a fault names every property. An object that isn't observed costs nothing.
  ///
  /// In place of key-value observing in Core Data, which calls observers for each property.
  public final func observeChanges() -> ObjectChanges {
    confinement.check()
    let mailbox = ObjectChangeMailbox()
    if isUnfilled { confinement.context?.fulfill(self) }
    guard state != .detached, let context = confinement.context else {
      mailbox.finish()
      return ObjectChanges(mailbox: mailbox)
    }
    context.notifier.objectWatch.add(self, mailbox)
    return ObjectChanges(mailbox: mailbox)
  }
}

/// Compares a context's observed objects with what their observers have seen, at the end of each event.
final class ObjectWatch: ContextObserver {
  // Touched on the context's queue only; released with the context.
  private var observations: [ObjectIdentifier: [Observation]] = [:]

  /// One consumer's view of an object.
  fileprivate struct Observation {
    let object: ManagedObject
    /// The values that the consumer knows of.
    var seen: ContiguousArray<Value>
    weak var mailbox: ObjectChangeMailbox?
  }

  /// Whether an object is observed.
  var isEmpty: Bool { observations.isEmpty }

  deinit { finish() }

  fileprivate func add(_ object: ManagedObject, _ mailbox: ObjectChangeMailbox) {
    observations[ObjectIdentifier(object), default: []].append(
      Observation(object: object, seen: object.slots, mailbox: mailbox))
  }

  func contextWillProcess(_ save: ContextSave) {}

  func contextDidProcess(_ changes: PendingChanges) {
    if observations.isEmpty { return }
    var formers: [ObjectIdentifier: ContiguousArray<Value>] = [:]
    for object in changes.refreshed where observations[ObjectIdentifier(object)] != nil {
      formers[ObjectIdentifier(object)] = []
    }
    for former in changes.formers where observations[ObjectIdentifier(former.object)] != nil {
      formers[ObjectIdentifier(former.object)] = former.values
    }
    for (key, list) in observations {
      let kept = list.compactMap { observe($0, isChanged: formers[key] != nil, former: formers[key] ?? []) }
      observations[key] = kept.isEmpty ? nil : kept
    }
  }

  func contextDidReset() { finish() }

  private func finish() {
    for observation in observations.values.joined() { observation.mailbox?.finish() }
    observations = [:]
  }

  /// Tells a consumer about the object's change, if any. Returns nil when the observation is over.
  private func observe(
    _ observation: Observation, isChanged: Bool, former: ContiguousArray<Value>
  ) -> Observation? {
    var observation = observation
    let object = observation.object
    guard let mailbox = observation.mailbox else { return nil }
    guard object.state != .detached else {
      mailbox.finish()
      return nil
    }
    if isChanged, let change = observation.change(former) { mailbox.put(change) }
    // A fault that has been read, or a set, is no change: it is what the next one is compared with.
    observation.seen = object.slots
    return observation
  }
}

extension ObjectWatch.Observation {
  /// How the object differs from what was seen; nil when it doesn't.
  /// - Parameter former: the values before the first change of the event; empty when they aren't known.
  func change(_ former: ContiguousArray<Value>) -> ObjectChange? {
    let properties = object.entity.properties
    if object.isUnfilled { return ObjectChange(keys: Set(properties.map(\.name)), values: [:]) }
    var changed: [PropertyDescription] = []
    var uncertain: [PropertyDescription] = []
    for property in properties {
      let slot = property.slot
      let old = seen[slot] == .unresolved && !former.isEmpty ? former[slot] : seen[slot]
      let now = object.slots[slot]
      if old == .unresolved {
        uncertain.append(property)
      } else if !isSame(old, now) {
        changed.append(property)
      }
    }
    let sets = object.confinement.context?.changeSet.changedSets(of: object) ?? []
    changed += uncertain.filter { sets.contains($0.slot) }
    // Members have come or gone if nothing else explains why the object is announced; values that were set and set back do.
    if changed.isEmpty, former.isEmpty || object.state == .clean { changed = uncertain }
    if changed.isEmpty { return nil }
    var values: [String: Value] = [:]
    for property in changed where object.slots[property.slot] != .unresolved {
      values[property.name] = object.slots[property.slot]
    }
    return ObjectChange(keys: Set(changed.map(\.name)), values: values)
  }

  /// Whether two values are the same, also where a save has replaced temporary IDs.
  private func isSame(_ old: Value, _ now: Value) -> Bool {
    if old == now { return true }
    guard let registry = object.confinement.context?.registry else { return false }
    if case .object(let id) = old { return .object(registry.currentID(id)) == now }
    return old.isSet && old.mappingIDs { registry.currentID($0) } == now
  }
}
