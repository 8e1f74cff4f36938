import ManagedObjects

// Records that wait for an object: set aside at the end of their batch, taken back when something has become of them.
extension RowApplier {
  /// Sets aside what still waits, takes away what doesn't any more, and marks what has been overtaken.
  func settleAside(_ mayHaveAside: Bool) throws {
    let waiting = deferred.flatMap { $0.values.joined() }.sorted()
    if phase == .inTheFile {
      for index in waiting {
        let row = batch.rows[index]
        try aside.keep(SetAside(row, of: batch), identity: identity(of: row) ?? "")
      }
    } else {
      let isWaiting = Set(waiting)
      for (index, row) in batch.rows.enumerated() {
        if let id = row.aside?.id, !isWaiting.contains(index) { context.delete(context.object(with: id)) }
      }
    }
    keepsAside = !waiting.isEmpty
    guard mayHaveAside || keepsAside, existing != nil else { return }
    var identities: [String: Int64] = [:]
    for item in applied {
      let row = batch.rows[item.row]
      if let identity = identity(of: row) {
        identities[identity] = max(identities[identity] ?? 0, batch.number(of: row))
      }
    }
    try aside.overtake(identities)
  }

  /// The key of a row's object as a text; nil when it has none.
  private func identity(of row: ConvertedBatch.Row) -> String? {
    guard existing != nil, let place = batch.constraint(of: row) else { return nil }
    let key = uniqueKey(row.values, place)
    if key.isPartial { return nil }
    let names = batch.mapping.constraints[place].attributes.map(\.name)
    return (names + key.values.map(\.plainText)).joined(separator: "\u{1F}")
  }
}
