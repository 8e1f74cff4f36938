/// A controller's members in order, with their sections.
///
/// A change is applied in place: a binary search finds each object that leaves, enters or moves, and all others shift in one
/// pass. Between two changes the members are strictly ordered by `FetchedOrder`, whatever happens to the objects.
struct FetchedContent {
  let order: FetchedOrder
  private(set) var members: ContiguousArray<FetchedMember>
  private(set) var sections: SectionRuns
  private var byID: [ManagedObjectID: FetchedMember]

  init(_ members: ContiguousArray<FetchedMember>, _ order: FetchedOrder, hasSections: Bool) {
    self.order = order
    // A store sorts in the same order, but unsaved or unmerged changes may have replaced the values it sorted by.
    let isSorted = zip(members, members.dropFirst()).allSatisfy { order.order($0, $1) < 0 }
    self.members = isSorted ? members : ContiguousArray(members.sorted { order.order($0, $1) < 0 })
    let placed = self.members
    sections = SectionRuns(hasSections: hasSections, count: placed.count) { placed[$0].place.section }
    byID = Dictionary(placed.map { ($0.id, $0) }) { first, _ in first }
  }

  /// The member with the ID that it had when it was last examined.
  func member(_ id: ManagedObjectID) -> FetchedMember? { byID[id] }

  /// The index of a member.
  func index(of member: FetchedMember) -> Int? {
    var index = order.position(of: member, in: members)
    // Objects have equal numbers only in hierarchies that lie in several stores.
    while index < members.count, members[index] !== member {
      guard order.order(members[index], member) == 0 else { return nil }
      index += 1
    }
    return index < members.count ? index : nil
  }

  /// Updates a member to its object's new ID. Returns whether the members are still in order.
  mutating func rename(_ member: FetchedMember) -> Bool {
    guard let index = index(of: member) else { return true }
    byID[member.id] = nil
    let former = member.id
    member.id = member.object.id
    byID[member.id] = member
    let isInOrder =
      (index == 0 || order.order(members[index - 1], member) < 0)
      && (index + 1 == members.count || order.order(member, members[index + 1]) < 0)
    // Out of order it couldn't be found, so it takes its new place first.
    if !isInOrder { member.id = former }
    return isInOrder
  }

  /// Applies a change. Returns the changes of each object and section.
  mutating func apply(_ delta: ContentDelta) -> ContentChange {
    let former = sections
    let leaving = delta.leaving.compactMap { member in index(of: member).map { (member, $0) } }
    let moving = delta.moving.compactMap { move in index(of: move.member).map { (move, $0) } }
    let updated = delta.updated.compactMap { member in index(of: member).map { (member, $0) } }
    let removed = (leaving.map(\.1) + moving.map(\.1)).sorted()
    let vanished = membersOfEmptied(removed)

    remove(removed)
    for (member, _) in leaving {
      byID[member.id] = nil
      byID[member.object.id] = nil
    }
    var oldIndex: [ObjectIdentifier: Int] = [:]
    for (move, old) in moving {
      oldIndex[ObjectIdentifier(move.member)] = old
      move.member.place = move.place
      move.member.id = move.member.object.id
    }
    for member in delta.entering { byID[member.id] = member }
    let entering = (delta.entering + moving.map(\.0.member)).sorted { order.order($0, $1) < 0 }
    let positions = entering.map { order.position(of: $0, in: members) }
    insert(entering, positions)
    let inserted = entering.enumerated().map { (index: positions[$0] + $0, name: $1.place.section) }
    sections = former.changed(removing: removed, inserting: inserted)

    let shift = IndexShift(removed: removed, positions: positions)
    var change = ContentChange(
      from: former, to: sections, mapping: SectionMapping(from: former, to: sections), members: members,
      vanished: vanished)
    for (member, old) in leaving { change.note(.delete, member.object, old: old, new: nil) }
    for (place, member) in inserted.map(\.index).enumerated().map({ ($1, entering[$0]) }) {
      if let old = oldIndex[ObjectIdentifier(member)] {
        change.note(.move, member.object, old: old, new: place)
      } else {
        change.note(.insert, member.object, old: nil, new: place)
      }
    }
    for (member, old) in updated { change.note(.update, member.object, old: old, new: shift.newIndex(of: old)) }
    if change.mapping.movesObjects { change.noteCarried(members, shift) }
    change.sort()
    return change
  }

  /// The members of sections that become empty, by the section's index.
  private func membersOfEmptied(_ removed: [Int]) -> [Int: ContiguousArray<FetchedMember>] {
    guard sections.hasSections else { return [:] }
    var emptied: [Int: ContiguousArray<FetchedMember>] = [:]
    var next = 0
    while next < removed.count {
      let run = sections.run(of: removed[next])
      let range = sections.range(of: run)
      let first = next
      while next < removed.count, removed[next] < range.upperBound { next += 1 }
      if next - first == range.count { emptied[run] = ContiguousArray(members[range]) }
    }
    return emptied
  }

  private mutating func remove(_ indexes: [Int]) {
    if indexes.count <= 8 {
      for index in indexes.reversed() { members.remove(at: index) }
      return
    }
    var (place, next) = (indexes[0], 0)
    for index in indexes[0]..<members.count {
      if next < indexes.count, indexes[next] == index {
        next += 1
      } else {
        members.swapAt(place, index)
        place += 1
      }
    }
    members.removeLast(indexes.count)
  }

  /// Inserts members, in order, each before the one at its position.
  private mutating func insert(_ entering: [FetchedMember], _ positions: [Int]) {
    if entering.count <= 8 {
      for (member, position) in zip(entering, positions).reversed() { members.insert(member, at: position) }
      return
    }
    var source = members.count - 1
    members.append(contentsOf: entering)
    var place = members.count - 1
    for (member, position) in zip(entering, positions).reversed() {
      while source >= position {
        members.swapAt(source, place)
        source -= 1
        place -= 1
      }
      members[place] = member
      place -= 1
    }
  }
}

/// A change of a content: members that leave, enter or move, and those that change in place.
struct ContentDelta {
  var leaving: [FetchedMember] = []
  var entering: [FetchedMember] = []
  var moving: [(member: FetchedMember, place: FetchedPlace)] = []
  var updated: [FetchedMember] = []

  var isEmpty: Bool { leaving.isEmpty && entering.isEmpty && moving.isEmpty && updated.isEmpty }
}

/// The shift of the objects that stay, once others have left, entered or moved.
struct IndexShift {
  /// The old indexes of the objects that left, ascending.
  let removed: [Int]
  /// For each object that entered, the index among the staying objects that it was inserted before, ascending.
  let positions: [Int]

  /// The new index of the object at `old`.
  func newIndex(of old: Int) -> Int {
    let staying = old - Self.count(of: removed, below: old)
    return staying + Self.count(of: positions, below: staying + 1)
  }

  private static func count(of numbers: [Int], below bound: Int) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < bound { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
