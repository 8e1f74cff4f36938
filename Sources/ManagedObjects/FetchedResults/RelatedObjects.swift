/// The other objects that a controller's members are selected, sorted or sectioned by. They are held, so merges reach them and
/// nothing is read when they change. Each is recorded with the members that depend on it.
struct RelatedObjects {
  private struct Entry {
    let object: ManagedObject
    /// The values that were read from it, by ``FollowedPaths/steps``.
    var seen: [Value]
    var members: [ObjectIdentifier: FetchedMember] = [:]
  }

  private let paths: FollowedPaths
  private var entries: [ObjectIdentifier: Entry] = [:]
  /// Objects that no member depends on, whose unsaved changes may have made members leave.
  private var changed: Set<ManagedObjectID> = []
  private var objectsOfMember: [ObjectIdentifier: [ObjectIdentifier]] = [:]

  init(_ paths: FollowedPaths) { self.paths = paths }

  /// Records the objects that a member depends on now.
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

  /// Forgets a member, and the objects that no other member depends on.
  mutating func forget(_ member: FetchedMember) {
    guard let objects = objectsOfMember.removeValue(forKey: ObjectIdentifier(member)) else { return }
    for key in objects {
      entries[key]?.members[ObjectIdentifier(member)] = nil
      if entries[key]?.members.isEmpty == true { entries[key] = nil }
    }
  }

  /// Whether members depend on an object.
  func contains(_ object: ManagedObject) -> Bool { entries[ObjectIdentifier(object)] != nil }

  /// The members that depend on an object.
  func members(of object: ManagedObject) -> [FetchedMember] {
    entries[ObjectIdentifier(object)].map { Array($0.members.values) } ?? []
  }

  /// Whether the values read from an object have changed since the last call.
  mutating func takeChange(of object: ManagedObject) -> Bool {
    let key = ObjectIdentifier(object)
    guard let entry = entries[key] else { return false }
    let now = values(of: object)
    if object.state != .deleted, object.state != .detached, now == entry.seen { return false }
    entries[key]?.seen = now
    return true
  }

  /// Whether the values that would be read from an object that no member depends on may have changed by its own changes. The
  /// rows of a merge report theirs.
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
