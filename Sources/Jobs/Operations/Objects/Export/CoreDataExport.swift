import CoreDataStores
import Importing
import ManagedObjects

/// Writes all objects of a store into a Core Data store. What it keeps in memory doesn't grow with the objects: rows are read
/// and written one by one, pairs by the batch.
struct CoreDataExport {
  /// The number of objects whose related ones are read together.
  private static let batch = 500

  let plan: CoreDataExportPlan
  let context: ManagedObjectContext
  let writer: CoreDataWriter
  /// The files of large values.
  private let files: CoreDataFiles
  /// What is added to the numbers of objects without one in the app's store, by the roots of their hierarchies.
  private let bases: [EntityDescription: Int64]

  init(_ plan: CoreDataExportPlan, _ context: ManagedObjectContext, into file: AtomicFile) throws {
    self.plan = plan
    self.context = context
    var bases: [EntityDescription: Int64] = [:]
    for (root, key) in plan.optionalKeys {
      var request = FetchRequest<ManagedObject>(
        entityName: key.entity.name, sortDescriptors: [FetchSortDescriptor(key.name, ascending: false)], fetchLimit: 1,
        includesPendingChanges: false)
      request.propertiesToFetch = [.expression(ExpressionDescription("lade.key", .keyPath(key.name)))]
      var greatest: Int64 = 0
      try context.eachDictionary(request) { row in greatest = max(greatest, row[0].storedInteger) }
      bases[root] = max(greatest, plan.template.schema.entities.map(\.maximum).max() ?? 0)
    }
    self.bases = bases
    files = try CoreDataFiles(of: file)
    writer = try CoreDataWriter(file, plan.template)
  }

  /// The number of objects that will be written.
  func count() throws -> Int64 {
    try plan.rows.reduce(0) { try $0 + Int64(context.count(for: $1.request)) }
  }

  /// Writes everything, and ends the file.
  /// - Parameters:
  ///   - step: called after each object, and throws to stop.
  ///   - pulse: called after each look at an object's related ones, and throws to stop.
  func run(step: () throws -> Void, pulse: () throws -> Void) throws {
    for rows in plan.rows {
      try context.eachDictionary(rows.request) { row in
        try writer.execute(rows.sql, rows.sources.map { try value($0, row) })
        try step()
      }
    }
    for pairs in plan.pairs { try write(pairs, pulse) }
    try writer.finish(plan.layout)
  }

  /// The store appears.
  func commit() throws { try files.commit() }

  private func value(_ source: CoreDataExportPlan.Source, _ row: ContiguousArray<Value>) throws -> Value {
    switch source {
    case .constant(let value): return value
    case .rowNumber(let number): return number.number(in: row, bases).map(Value.int) ?? .null
    case .attribute(let column, let attribute):
      return try CoreDataValue.encoded(row[column], of: attribute) { try files.write($0) }
    case .reference(let number, let entityName):
      if let entityName, entityNumber(row[entityName]) == nil { return .null }
      return number.number(in: row, bases).map(Value.int) ?? .null
    case .entityNumber(let name): return entityNumber(row[name]).map(Value.int) ?? .null
    }
  }

  private func entityNumber(_ name: Value) -> Int64? {
    if case .string(let name) = name { plan.numbers[name] } else { nil }
  }

  // MARK: Pairs

  private func write(_ pairs: CoreDataExportPlan.Pairs, _ pulse: () throws -> Void) throws {
    var owners: [(id: ManagedObjectID, number: Int64)] = []
    func flush() throws {
      let numbers = Dictionary(owners.map { ($0.id, $0.number) }) { first, _ in first }
      var places: [ManagedObjectID: Int] = [:]
      for related in try context.relatedRows(of: owners.map(\.id), pairs.relationship) {
        guard let owner = numbers[related.owner], plan.numbers[related.row.id.entity.name] != nil else { continue }
        var number = (bases[related.row.id.entity.rootEntity] ?? 0) + related.row.id.number
        if let key = pairs.key, case .int(let own) = related.row.values[key] { number = own }
        let place = places[related.owner, default: 0]
        places[related.owner] = place + 1
        try writer.execute(
          pairs.sql,
          pairs.arguments.map { argument in
            switch argument {
            case .owner: .int(owner)
            case .related: .int(number)
            case .order: .int(CoreDataValue.orderKey(at: place))
            }
          })
      }
      owners.removeAll(keepingCapacity: true)
    }
    try context.eachDictionary(pairs.request) { row in
      guard case .object(let id) = row[pairs.owner.id], plan.numbers[id.entity.name] != nil,
        let number = pairs.owner.number(in: row, bases)
      else { return }
      owners.append((id, number))
      if owners.count == Self.batch { try flush() }
      try pulse()
    }
    try flush()
  }
}
