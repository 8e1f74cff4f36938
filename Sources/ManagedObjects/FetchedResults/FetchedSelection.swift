/// The objects that a controller shows, their order and their sections. Names are bound to the model.
struct FetchedSelection {
  /// The origin of section names.
  enum SectionNames {
    case none
    case path(ResolvedPath)
    case computed((ManagedObject) -> String?)
  }

  let fetch: StoreFetch
  let order: FetchedOrder
  let sectionNames: SectionNames
  let paths: FollowedPaths
  /// Whether an object is of the controller's class.
  let isOfClass: (ManagedObject) -> Bool

  init(_ fetch: StoreFetch, _ sectionNames: SectionNames, isOfClass: @escaping (ManagedObject) -> Bool) {
    self.fetch = fetch
    self.sectionNames = sectionNames
    self.isOfClass = isOfClass
    order = FetchedOrder(sort: fetch.sort)
    var others = fetch.sort.map(\.path)
    var asksObjects = false
    switch sectionNames {
    case .none: break
    case .path(let path): others.append(path)
    case .computed: asksObjects = true
    }
    paths = FollowedPaths(predicate: fetch.predicate, others: others, asksObjects: asksObjects)
  }

  var hasSections: Bool {
    if case .none = sectionNames { return false }
    return true
  }

  /// Whether an object can be a member, by its entity and its store.
  func concerns(_ id: ManagedObjectID, in context: ManagedObjectContext) -> Bool {
    guard fetch.includesSubentities ? id.entity.isKindOf(fetch.entity) : id.entity === fetch.entity else {
      return false
    }
    return fetch.affectedStores == nil || context.isAffected(id, by: fetch)
  }

  /// Whether changes to whole hierarchies can affect the content.
  func concerns(roots: Set<Int>) -> Bool { !paths.isPlain || roots.contains(fetch.entity.rootEntity.index) }

  func selects(_ subject: any PredicateSubject) -> Bool { fetch.predicate?.evaluate(on: subject) ?? true }

  func place(of object: ManagedObject) -> FetchedPlace {
    switch sectionNames {
    case .none: return order.place(of: object, section: "")
    case .path(let path): return order.place(of: object, section: path.value(of: object).plainText)
    case .computed(let name): return order.place(of: object, section: name(object) ?? "")
    }
  }

  /// The places of objects. Faults are read together, and stay faults where a row suffices.
  func places(of objects: [ManagedObject], in context: ManagedObjectContext) -> [FetchedPlace] {
    let faults = objects.filter(\.isUnfilled)
    var rows: [ManagedObjectID: StoreRow] = [:]
    if !faults.isEmpty, let read = context.reading({ try context.source.rows(with: faults.map(\.id)) }) {
      for row in read {
        if paths.isPlain { rows[row.id] = row } else { _ = context.object(from: row, isMerged: false) }
      }
    }
    return objects.map { object in
      if object.isUnfilled, let row = rows[object.id] { return place(of: PlainRow(row: row)) }
      return place(of: object)
    }
  }

  /// The place of an object by its row alone, for a selection whose paths are plain.
  func place(of row: PlainRow) -> FetchedPlace {
    guard case .path(let path) = sectionNames else { return order.place(of: row, section: "") }
    return order.place(of: row, section: path.value(of: row).plainText)
  }
}
