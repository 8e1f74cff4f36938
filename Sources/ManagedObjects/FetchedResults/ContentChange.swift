import Foundation

/// The changes of a content's objects and sections, for a delegate. Old paths refer to the content before the change, new ones
/// to the content after it.
struct ContentChange {
  struct ObjectChange {
    var type: FetchedResultsChangeType
    let object: ManagedObject
    let old: Int?
    let new: Int?
  }

  let former: SectionRuns
  let sections: SectionRuns
  let mapping: SectionMapping
  /// The members after the change.
  let members: ContiguousArray<FetchedMember>
  /// The members of sections that lost them all, by the section's old index.
  let vanished: [Int: ContiguousArray<FetchedMember>]
  private(set) var objects: [ObjectChange] = []

  init(
    from former: SectionRuns, to sections: SectionRuns, mapping: SectionMapping,
    members: ContiguousArray<FetchedMember>, vanished: [Int: ContiguousArray<FetchedMember>]
  ) {
    self.former = former
    self.sections = sections
    self.mapping = mapping
    self.members = members
    self.vanished = vanished
  }

  mutating func note(_ type: FetchedResultsChangeType, _ object: ManagedObject, old: Int?, new: Int?) {
    objects.append(ObjectChange(type: type, object: object, old: old, new: new))
  }

  /// Notes the objects as moved that are in another section now without having changed.
  mutating func noteCarried(_ members: ContiguousArray<FetchedMember>, _ shift: IndexShift) {
    var noted: [ObjectIdentifier: Int] = [:]
    for (index, change) in objects.enumerated() { noted[ObjectIdentifier(change.object)] = index }
    let gone = Set(shift.removed)
    for old in 0..<former.count where !gone.contains(old) {
      let new = shift.newIndex(of: old)
      if mapping.newIndex[former.run(of: old)] == sections.run(of: new) { continue }
      if let index = noted[ObjectIdentifier(members[new].object)] {
        objects[index].type = .move
      } else {
        note(.move, members[new].object, old: old, new: new)
      }
    }
  }

  /// Deletions from the last to the first, insertions from the first to the last, then moves and updates.
  mutating func sort() {
    objects.sort { a, b in
      if a.type.rank != b.type.rank { return a.type.rank < b.type.rank }
      if a.type == .delete { return (a.old ?? 0) > (b.old ?? 0) }
      return (a.new ?? 0) < (b.new ?? 0)
    }
  }

  func oldPath(_ change: ObjectChange) -> IndexPath? { change.old.map { former.path(of: $0) } }
  func newPath(_ change: ObjectChange) -> IndexPath? { change.new.map { sections.path(of: $0) } }

  /// The IDs of the objects reported as updated or moved.
  var changedIDs: [ManagedObjectID] {
    objects.filter { $0.type == .update || $0.type == .move }.map(\.object.id)
  }
}

extension FetchedResultsChangeType {
  fileprivate var rank: Int {
    switch self {
    case .delete: return 0
    case .insert: return 1
    case .move: return 2
    case .update: return 3
    }
  }
}

extension SectionRuns {
  /// The path to the object at `index`.
  func path(of index: Int) -> IndexPath {
    let run = run(of: index)
    return IndexPath(item: index - starts[run], section: run)
  }
}
