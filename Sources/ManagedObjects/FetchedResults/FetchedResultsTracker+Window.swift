extension FetchedResultsTracker {
  /// What a limit or an offset makes of a delta; without them, the delta itself.
  ///
  /// A window that wasn't full holds everything there is, and one into which objects only come can be cut. Otherwise,
  /// what lies outside may come in, and the window is fetched again.
  func windowed(
    _ delta: ContentDelta, _ candidates: FetchedCandidates, _ unplaced: Set<ObjectIdentifier>
  ) -> ContentDelta? {
    let (limit, offset) = (selection.fetch.limit, selection.fetch.offset)
    guard limit > 0 || offset > 0 else { return delta }
    let wasFull = limit > 0 && content.members.count >= limit
    if offset > 0 || (wasFull && !(delta.leaving.isEmpty && delta.moving.isEmpty)) {
      return fetchedDelta(candidates, unplaced)
    }
    return content.members.count + delta.entering.count - delta.leaving.count > limit ? cut(delta, to: limit) : delta
  }

  /// Lets what lies behind the limit leave, or not come at all.
  private func cut(_ delta: ContentDelta, to limit: Int) -> ContentDelta {
    var changed = Set(delta.leaving.map(ObjectIdentifier.init))
    var all: [(placed: FetchedMember, member: FetchedMember?)] = []
    for move in delta.moving {
      changed.insert(ObjectIdentifier(move.member))
      all.append((FetchedMember(move.member.object, move.place), move.member))
    }
    all += delta.entering.map { ($0, nil) }
    all += content.members.filter { !changed.contains(ObjectIdentifier($0)) }.map { ($0, $0) }
    all.sort { selection.order.order($0.placed, $1.placed) < 0 }
    let beyond = all.dropFirst(limit)
    let members = Set(beyond.compactMap { $0.member.map(ObjectIdentifier.init) })
    let newcomers = Set(beyond.filter { $0.member == nil }.map { ObjectIdentifier($0.placed) })
    var result = delta
    result.entering.removeAll { newcomers.contains(ObjectIdentifier($0)) }
    result.moving.removeAll { members.contains(ObjectIdentifier($0.member)) }
    result.updated.removeAll { members.contains(ObjectIdentifier($0)) }
    result.leaving += beyond.compactMap(\.member)
    return result
  }
}
