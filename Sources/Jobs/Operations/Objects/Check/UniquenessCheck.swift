import ManagedObjects

/// Checks unique values by the rows, independently of the store's indexes.
struct UniquenessCheck {
  private static let named = 5
  private let entity: EntityDescription
  private let context: ManagedObjectContext

  init(_ entity: EntityDescription, in context: ManagedObjectContext) {
    self.entity = entity
    self.context = context
  }

  /// Values that several objects share, of the constraints that the entity doesn't inherit.
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

/// The object graph's half of a check. It passes over what can't be read; the file's half reports why.
enum ObjectsCheckPart: CheckPart {
  static func isWanted(_ options: CheckOperation.Options) -> Bool { options.objects || options.repair }

  static func run(
    _ operation: CheckOperation, _ store: MaintainedStore, _ options: CheckOperation.Options, _ report: CheckReport,
    _ watch: MaintenanceWatch
  ) throws {
    guard try isReadable(store, options, report, watch) else { return }
    let check = ObjectGraphCheck(
      store.coordinator, repairs: options.repair, reportsReferences: options.repair, author: "job \(operation.job.id)",
      fence: options.repair ? try operation.fence(in: store.coordinator) : nil)
    let isWhole = try check.run(
      .init(
        shouldStop: watch.shouldStop,
        report: { done, _ in watch.report(MaintenanceProgress(items: done, phase: "objects")) },
        found: { try report.add($0) }))
    guard isWhole else { throw MaintenanceStopped() }
  }

  private static func isReadable(
    _ store: MaintainedStore, _ options: CheckOperation.Options, _ report: CheckReport, _ watch: MaintenanceWatch
  ) throws -> Bool {
    // Without repair the file's half has reported them already.
    guard options.repair else { return report.kinds.isSubset(of: [.reference]) }
    var isReadable = true
    try store.maintenance.checkIntegrity(.quick, watch) { problem in
      if problem.kind != .reference { isReadable = false }
    }
    return isReadable
  }
}
