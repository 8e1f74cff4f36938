extension FetchedResultsTracker {
  /// Looks at each candidate: whether it is selected, and where it belongs.
  func delta(_ candidates: FetchedCandidates, _ unplaced: Set<ObjectIdentifier>) -> ContentDelta {
    var delta = ContentDelta()
    if !unplaced.isEmpty { moveUnplaced(candidates, unplaced, &delta) }
    var held: [ManagedObject] = []
    var looks: [(ManagedObjectID, Look)] = []
    var unread: [ManagedObjectID] = []
    for id in candidates.ids {
      let look = look(at: id, candidates[id])
      if look.isUnread { unread.append(id) }
      looks.append((id, look))
    }
    let rows = unread.isEmpty ? [:] : read(unread)
    if !selection.paths.isPlain {
      for (index, (id, look)) in looks.enumerated() {
        guard let row = look.row ?? rows?[id] else { continue }
        let object = context.object(from: row)
        held.append(object)
        looks[index].1 = .object(object)
      }
      let objects = looks.compactMap(\.1.object)
      held += context.objects(along: selection.paths.routes, from: objects, relatedRows)
    }
    for (id, look) in looks {
      let isChanged = candidates[id].isChanged
      switch look {
      case .gone: leave(id, &delta)
      case .object(let object): decide(object, isChanged, unplaced, &delta)
      case .row(let row): decide(PlainRow(row: row), isChanged, unplaced, &delta)
      case .unread(let object):
        // A store that can't be read leaves everything as it is: the next time, all is fetched again.
        guard let rows else { continue }
        if let row = rows[id] {
          decide(PlainRow(row: row), of: object, isChanged, unplaced, &delta)
        } else {
          leave(id, &delta)
        }
      }
    }
    withExtendedLifetime(held) {}
    return delta
  }

  /// Lets members whose new IDs ask for another place move, unless they are looked at anyway.
  private func moveUnplaced(
    _ candidates: FetchedCandidates, _ unplaced: Set<ObjectIdentifier>, _ delta: inout ContentDelta
  ) {
    let looked = Set(candidates.ids)
    for member in content.members where unplaced.contains(ObjectIdentifier(member)) {
      if !looked.contains(member.id), !looked.contains(member.object.id) { delta.moving.append((member, member.place)) }
    }
  }

  /// What there is to look at.
  private enum Look {
    /// Nothing: it was deleted, or never was.
    case gone
    case object(ManagedObject)
    /// A row that a merge brought of an object that isn't known here, or is a fault.
    case row(StoreRow)
    /// A fault whose row nobody has, or an object that isn't known here.
    case unread(ManagedObject?)

    var isUnread: Bool { if case .unread = self { true } else { false } }
    var object: ManagedObject? { if case .object(let object) = self { object } else { nil } }
    var row: StoreRow? { if case .row(let row) = self { row } else { nil } }
  }

  private func look(at id: ManagedObjectID, _ candidate: FetchedCandidates.Candidate) -> Look {
    var object = candidate.object ?? content.member(id)?.object
    if object == nil || object?.state == .detached { object = context.registeredObject(for: id) ?? object }
    if let object, object.state != .detached {
      if object.state == .deleted { return .gone }
      if !object.isUnfilled { return .object(object) }
      return candidate.row.map(Look.row) ?? .unread(object)
    }
    return candidate.row.map(Look.row) ?? (candidate.isRefreshed && !candidate.isDeleted ? .unread(nil) : .gone)
  }

  private func read(_ ids: [ManagedObjectID]) -> [ManagedObjectID: StoreRow]? {
    guard let rows = context.reading({ try context.source.rows(with: ids) }) else {
      needsFetch = true
      return nil
    }
    return Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
  }

  private func leave(_ id: ManagedObjectID, _ delta: inout ContentDelta) {
    if let member = content.member(id) { delta.leaving.append(member) }
  }

  private func decide(
    _ object: ManagedObject, _ isChanged: Bool, _ unplaced: Set<ObjectIdentifier>, _ delta: inout ContentDelta
  ) {
    if let member = content.member(object.id), member.object !== object { delta.leaving.append(member) }
    guard selection.isOfClass(object), selection.selects(object) else { return leave(object.id, &delta) }
    sort(object, selection.place(of: object), isChanged, unplaced, into: &delta)
  }

  /// Decides by the row alone; an object that isn't selected isn't made.
  private func decide(
    _ row: PlainRow, of fault: ManagedObject? = nil, _ isChanged: Bool, _ unplaced: Set<ObjectIdentifier>,
    _ delta: inout ContentDelta
  ) {
    guard selection.selects(row) else { return leave(row.subjectID, &delta) }
    let object = fault ?? context.object(from: row.row)
    guard selection.isOfClass(object) else { return }
    if let member = content.member(object.id), member.object !== object { delta.leaving.append(member) }
    sort(object, selection.place(of: row), isChanged, unplaced, into: &delta)
  }
}
