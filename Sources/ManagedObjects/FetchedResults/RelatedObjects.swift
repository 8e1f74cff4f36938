/// The objects that a controller's members are selected, sorted or sectioned by, other than themselves. They are held, so
/// that merges reach them and nothing is read when they change; each knows the members that hang on it.
struct RelatedObjects {
  private struct Entry {
    let object: ManagedObject
    /// What was read from it, by ``FollowedPaths/steps``.
    var seen: [Value]
    var members: [ObjectIdentifier: FetchedMember] = [:]
  }

  private let paths: FollowedPaths
  private var entries: [ObjectIdentifier: Entry] = [:]
  /// Objects on which no member hangs, whose unsaved changes may have made some leave.
  private var changed: Set<ManagedObjectID> = []
  private var objectsOfMember: [ObjectIdentifier: [ObjectIdentifier]] = [:]

  init(_ paths: FollowedPaths) { self.paths = paths }

  /// Notes what a member hangs on now.
  mutating func follow(_ member: FetchedMember, in context: ManagedObjectContext) {
    guard !paths.routes.isEmpty else { return }
    forget(member)
    var noted: [ObjectIdentifier] = []
    for route in paths.routes {
      var object = member.object
      for relationship in route {
        guard case .object(let id) = object.value(at: relationship.slot) else { break }
        object = context.object(with: id)
        let key = ObjectIdentifier(object)
        var entry = entries.removeValue(forKey: key) ?? Entry(object: object, seen: values(of: object))
        entry.members[ObjectIdentifier(member)] = member
        entries[key] = entry
        noted.append(key)
      }
    }
    if !noted.isEmpty { objectsOfMember[ObjectIdentifier(member)] = noted }
  }

  /// Forgets a member, and what nothing else hangs on.
  mutating func forget(_ member: FetchedMember) {
    guard let objects = objectsOfMember.removeValue(forKey: ObjectIdentifier(member)) else { return }
    for key in objects {
      entries[key]?.members[ObjectIdentifier(member)] = nil
      if entries[key]?.members.isEmpty == true { entries[key] = nil }
    }
  }

  /// Whether members hang on an object.
  func contains(_ object: ManagedObject) -> Bool { entries[ObjectIdentifier(object)] != nil }

  /// The members that hang on an object.
  func members(of object: ManagedObject) -> [FetchedMember] {
    entries[ObjectIdentifier(object)].map { Array($0.members.values) } ?? []
  }

  /// Whether what is read from an object has changed since the last time.
  mutating func takeChange(of object: ManagedObject) -> Bool {
    let key = ObjectIdentifier(object)
    guard let entry = entries[key] else { return false }
    let now = values(of: object)
    if object.state != .deleted, object.state != .detached, now == entry.seen { return false }
    entries[key]?.seen = now
    return true
  }

  /// Whether what would be read from an object on which no member hangs may have changed, as far as its own changes say;
  /// those of a merge are told by its rows.
  mutating func takeChange(ofUntracked object: ManagedObject, isMerge: Bool) -> Bool {
    switch object.state {
    case .deleted, .detached: return false
    case .inserted: return true
    case .clean: return object.isUnfilled || changed.remove(object.id) != nil
    case .updated:
      let isChanged = paths.steps.contains { step in
        guard let slot = step.slot, object.entity.isKindOf(step.destination) else { return false }
        return object.committed.isEmpty || object.slots[slot] != object.committed[slot]
      }
      if isChanged { return changed.insert(object.id).inserted || !isMerge }
      return changed.remove(object.id) != nil
    }
  }

  private func values(of object: ManagedObject) -> [Value] {
    paths.steps.compactMap { step in
      guard let slot = step.slot, object.entity.isKindOf(step.destination) else { return nil }
      return object.value(at: slot)
    }
  }
}
