import ManagedObjects

/// Whether values that are to be unique are so, whatever the store's indexes say.
struct UniquenessCheck {
  private static let named = 5
  private let entity: EntityDescription
  private let context: ManagedObjectContext

  init(_ entity: EntityDescription, in context: ManagedObjectContext) {
    self.entity = entity
    self.context = context
  }

  /// Values that several objects have, of the constraints that the entity doesn't inherit.
  func problems() throws -> [StoreProblem] {
    let inherited = entity.superentity?.uniquenessConstraints.map { $0.map(\.name) } ?? []
    return try entity.uniquenessConstraints.map { $0.map(\.name) }.filter { !inherited.contains($0) }
      .flatMap(problems)
  }

  private func problems(of names: [String]) throws -> [StoreProblem] {
    var request = FetchRequest<ManagedObject>(
      entityName: entity.name, predicate: .and(names.map { .notEqual($0, .null) }))
    request.propertiesToGroupBy = names
    request.propertiesToFetch =
      names.map { .property($0) } + [.expression(ExpressionDescription("lade.count", .count()))]
    request.havingPredicate = .comparison(.path("lade.count"), .greater, .constant(.int(1)))
    var problems: [StoreProblem] = []
    try context.eachDictionary(request) { row in
      let values = Array(row.prefix(names.count))
      guard case .int(let count)? = row.last else { return }
      problems.append(try problem(names, values, count))
    }
    return problems
  }

  private func problem(_ names: [String], _ values: [Value], _ count: Int64) throws -> StoreProblem {
    let ids = try context.fetchIDs(
      FetchRequest<ManagedObject>(
        entityName: entity.name, predicate: .and(zip(names, values).map { .equal($0, $1) }), fetchLimit: Self.named))
    let list = ids.map(\.description).joined(separator: ", ") + (count > Int64(Self.named) ? ", …" : "")
    return StoreProblem(
      .uniqueness, entity: entity.name, number: ids.first?.number, property: names.joined(separator: ", "),
      message:
        "\(count) objects have “\(values.map(\.plainText).joined(separator: ", "))” (\(list)): delete all but one, "
        + "or give the others values of their own")
  }
}
