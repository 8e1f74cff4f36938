import Foundation
import ManagedObjects
import Synchronization

/// A store whose Nth write fails, once or from then on; before it wrote, or when it had.
final class FaultyStore: BulkLoading {
  /// When writes fail. Shared by the test and the store.
  final class Plan: Sendable {
    enum Moment: Sendable, CaseIterable {
      /// The transaction is given up: a full disk, or a kill before the commit.
      case before
      /// The transaction is committed but its caller never returns: a kill just after.
      case after
    }

    private struct State {
      var failing: Int?
      var isForGood = false
      var moment = Moment.before
      var writes = 0
      var newRows: [String: Int] = [:]
      var readRows: [String: Int] = [:]
      var intrusion: (@Sendable () throws -> Void)?
    }
    private let state = Mutex(State())

    /// Writes asked for so far.
    var writes: Int { state.withLock { $0.writes } }

    func fail(write number: Int, forGood: Bool, _ moment: Moment) {
      state.withLock { $0 = State(failing: number, isForGood: forGood, moment: moment) }
    }

    /// Has `body` done just before the next write: what another thread may do at that moment.
    func intrude(_ body: @escaping @Sendable () throws -> Void) { state.withLock { $0.intrusion = body } }

    /// Counts rows that are written without objects, by entity.
    func note(_ rows: [NewRows]) {
      if rows.isEmpty { return }
      state.withLock { state in for rows in rows { state.newRows[rows.entity.name, default: 0] += rows.count } }
    }

    /// How many rows of an entity were written without objects.
    func newRows(of entity: String) -> Int { state.withLock { $0.newRows[entity] ?? 0 } }

    /// Counts rows that are read for objects, by entity.
    func noteRead(_ count: Int, of entity: String) {
      state.withLock { $0.readRows[entity, default: 0] += count }
    }

    /// How many rows of an entity were read for objects.
    func readRows(of entity: String) -> Int { state.withLock { $0.readRows[entity] ?? 0 } }

    func heal() { state.withLock { $0 = State() } }

    func run<T>(_ write: () throws -> T) throws -> T {
      let intrusion = state.withLock { state in
        defer { state.intrusion = nil }
        return state.intrusion
      }
      try intrusion?()
      let moment = count()
      if moment == .before { throw Fault.injected }
      let result = try write()
      if moment == .after { throw Fault.injected }
      return result
    }

    /// Counts a write. Returns when it is to fail, if it is.
    func count() -> Moment? {
      state.withLock { state in
        state.writes += 1
        guard let failing = state.failing else { return nil }
        return state.writes == failing || (state.isForGood && state.writes > failing) ? state.moment : nil
      }
    }
  }

  enum Fault: Error { case injected }

  private let store: any IncrementalStore
  private let plan: Plan

  init(_ store: any IncrementalStore, _ plan: Plan) {
    self.store = store
    self.plan = plan
  }

  var identifier: String { store.identifier }
  var url: URL? { store.url }
  var takesNewRows: Bool { (store as? any BulkLoading)?.takesNewRows ?? false }
  func matches(of rows: NewRows, by key: [Int], order: [Int32], slots: [Int]) throws -> RowMatches? {
    try (store as? any BulkLoading)?.matches(of: rows, by: key, order: order, slots: slots)
  }
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    let rows = try store.rows(fetch)
    plan.noteRead(rows.count, of: fetch.entity.name)
    return rows
  }
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try store.ids(fetch) }
  func count(_ fetch: StoreFetch) throws -> Int { try store.count(fetch) }
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { try store.dictionaries(query) }
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    try store.relatedRows(of: ids, relationship)
  }
  func snapshot() throws -> any StoreReader { try store.snapshot() }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { try store.rows(with: ids) }
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    try store.relatedIDs(of: id, relationship)
  }
  func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try plan.run { try store.transaction(body) }
  }
  /// Its commit counts as a write.
  func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    var moment: Plan.Moment?
    let result = try store.inOneTransaction {
      let (result, end) = try body()
      if end == .commit { moment = plan.count() }
      if moment == .before { throw Fault.injected }
      return (result, end)
    }
    if moment == .after { throw Fault.injected }
    return result
  }
  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    plan.note(changes.newRows)
    return try plan.run { try store.write(changes) }
  }
  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try plan.run { try store.permanentIDs(for: entities) }
  }
  func permanentNumbers(_ count: Int, of entity: EntityDescription) throws -> (scope: IDScope, first: Int64) {
    try plan.run {
      if let loading = store as? any BulkLoading { return try loading.permanentNumbers(count, of: entity) }
      let ids = try store.permanentIDs(for: Array(repeating: entity, count: count))
      return (ids[0].scope, ids[0].number)
    }
  }
  func postponeIndexes(of entity: EntityDescription, expecting rows: Int64) throws -> Bool {
    try plan.run { try (store as? any BulkLoading)?.postponeIndexes(of: entity, expecting: rows) ?? false }
  }
  func endPostponement(of entity: EntityDescription) { (store as? any BulkLoading)?.endPostponement(of: entity) }
  func makeIndexes(of entity: EntityDescription) throws {
    try plan.run { if let loading = store as? any BulkLoading { try loading.makeIndexes(of: entity) } }
  }
  func synchronize() throws { try plan.run { try store.synchronize() } }
}
