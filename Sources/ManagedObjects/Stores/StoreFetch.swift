/// One object's row: the values that a store holds, in the entity's slots.
///
/// The slot of a property is ``PropertyDescription/slot``. A to-one relationship is `object` or `null`. To-many
/// relationships are `unresolved`: the context reads them when it needs them, by
/// ``StoreReader/relatedIDs(of:_:)``.
public struct StoreRow: Sendable {
  /// The object's permanent ID. Of a row that is to be inserted it may be temporary.
  public var id: ManagedObjectID
  /// The values as they were read.
  package var content: RowValues

  /// The values by slot.
  public var values: ContiguousArray<Value> {
    _read { yield content.all }
    _modify { yield &content.all }
  }

  /// A row.
  public init(id: ManagedObjectID, values: ContiguousArray<Value>) {
    self.init(id: id, content: RowValues(values))
  }

  package init(id: ManagedObjectID, content: RowValues) {
    self.id = id
    self.content = content
  }
}

/// An object's row, and the object whose relationship leads to it.
public struct RelatedRow: Sendable {
  /// The object that has the relationship.
  public var owner: ManagedObjectID
  /// The row at the other end.
  public var row: StoreRow

  /// A row that belongs to a relationship's owner.
  public init(owner: ManagedObjectID, row: StoreRow) {
    self.owner = owner
    self.row = row
  }
}

/// A fetch as a store sees it: names are bound to the model's properties.
///
/// A store that can't answer a fetch by its own means reads the rows of the entity and has them selected and sorted in
/// memory: ``rows(among:in:)``.
public struct StoreFetch: Sendable {
  /// The entity whose rows are wanted.
  public package(set) var entity: EntityDescription
  /// Whether rows of entities that inherit from it are wanted too.
  public package(set) var includesSubentities: Bool
  package var predicate: ResolvedPredicate?
  package var sort: [ResolvedSort]
  /// The greatest number of rows, 0 for all.
  public package(set) var limit: Int
  /// How many of the first rows are left out.
  public package(set) var offset: Int
  /// The identifiers of the stores to look in; nil for all.
  package var affectedStores: Set<String>?
  /// The slots to read; nil for all. The other values of a row may be `unresolved`.
  public package(set) var slots: Set<Int>?
  /// Whether objects that a context holds take on the values of their rows.
  package var refreshesObjects = false
  /// See ``FetchRequest/skipsLockedRows``.
  package var skipsLockedRows = false
  /// Watches the rows come, and may stop them.
  package var monitor: FetchMonitor?

  package init(
    entity: EntityDescription, includesSubentities: Bool = true, predicate: ResolvedPredicate? = nil,
    sort: [ResolvedSort] = [], limit: Int = 0, offset: Int = 0
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sort = sort
    // A page can't begin before the first row.
    self.limit = max(0, limit)
    self.offset = max(0, offset)
  }
}
