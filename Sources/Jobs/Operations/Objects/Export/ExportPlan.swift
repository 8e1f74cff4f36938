import Importing
import ManagedObjects

/// What an export reads and what it makes of it, worked out from the options and the model before the file is begun.
struct ExportPlan {
  /// A to-many relationship whose objects stand in each record.
  struct Collection {
    let relationship: RelationshipDescription
    /// The slots of the destination's attributes that are written.
    let slots: [Int]
  }

  /// Its columns are those of the layout, and behind them the object itself if there are collections.
  var request: FetchRequest<ManagedObject>
  let layout: WrittenFormat.Layout
  let collections: [Collection]
  /// What was left out, for people.
  let notes: [String]

  init(_ options: ExportOptions, _ entity: EntityDescription) throws {
    var columns = ExportColumns(entity, options)
    if let given = options.columns {
      guard !given.names.isEmpty else { throw ExportOptions.bad("columns names none: leave it out for all") }
      for name in given.names { try columns.add(name) }
    } else {
      try columns.addAll()
    }
    request = FetchRequest(
      entityName: entity.name, predicate: try options.predicate.map { try FetchPredicate(format: $0) },
      sortDescriptors: options.sort.names.map { name in
        name.hasPrefix("-")
          ? FetchSortDescriptor(String(name.dropFirst()), ascending: false) : FetchSortDescriptor(name)
      }, fetchLimit: options.limit, includesSubentities: options.subentities, includesPendingChanges: false)
    request.propertiesToFetch = columns.properties
    collections = columns.collections.map(\.source)
    if !collections.isEmpty {
      request.propertiesToFetch?.append(.expression(ExpressionDescription("lade.object", .keyPath("objectID"))))
    }
    layout = WrittenFormat.Layout(
      title: entity.name, columns: columns.columns, collections: columns.collections.map(\.written),
      delimiter: try options.delimiterByte())
    notes = columns.notes
  }
}
