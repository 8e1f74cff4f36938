import ControlAPI
import ControlServer
import Foundation
import Jobs
import ManagedObjects

extension DaemonBackend {
  func objects(_ query: ObjectQuery, by peer: Peer) async throws -> ObjectPage {
    let (store, entity) = try target(query)
    let columns = try ObjectColumns(query.columns, of: entity)
    try ObjectColumns.check(query.sort, of: entity)
    let request = try request(query, of: entity, in: store, by: peer)
    let counted = try ObjectColumns.counts(in: query.sort, of: entity)
    if columns.hasCounts || !counted.isEmpty {
      let selected = try columns.selection(sortedBy: counted)
      return try await reading(store, by: peer) { context in
        var request = request
        request.propertiesToFetch = selected
        let rows = try context.fetchDictionaries(request).map { row in
          columns.names.map { name in JSONValue(row.value(forKey: name) ?? .null) }
        }
        return ObjectPage(entity: entity.name, columns: columns.names, rows: rows)
      }
    }
    return try await reading(store, by: peer) { context in
      let rows = try context.fetch(request).map { object in columns.paths.map { ObjectColumns.value($0, of: object) } }
      return ObjectPage(entity: entity.name, columns: columns.names, rows: rows)
    }
  }

  func count(_ query: ObjectQuery, by peer: Peer) async throws -> Int {
    let (store, entity) = try target(query)
    var request = try request(query, of: entity, in: store, by: peer)
    request.sortDescriptors = []
    request.fetchLimit = 0
    request.fetchOffset = 0
    return try await reading(store, by: peer) { [request] in try $0.count(for: request) }
  }

  /// The store that is asked, and its entity: without a store's name, the one that has the entity.
  func target(_ query: ObjectQuery) throws -> (DataStores.Store, EntityDescription) {
    let candidates: [DataStores.Store]
    if let name = query.store {
      guard let store = stores[name] else { throw ControlError.noSuchStore(name, known: stores.names) }
      candidates = [store]
    } else {
      candidates = stores.all
    }
    let holders = candidates.filter { $0.entities.contains(query.entity) }
    guard holders.count < 2 else {
      throw ControlError.invalid(
        field: "store", reason: "several stores have an entity \(query.entity)",
        hint: "Name one of \(holders.map(\.configuration.name).joined(separator: ", ")).")
    }
    guard let store = holders.first, let entity = store.coordinator.model.entitiesByName[query.entity] else {
      throw ControlError.noSuchEntity(query.entity, known: candidates.flatMap(\.entities))
    }
    return (store, entity)
  }

  private func request(
    _ query: ObjectQuery, of entity: EntityDescription, in store: DataStores.Store, by peer: Peer
  ) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: query.entity)
    if let format = query.predicate {
      let predicate = try FetchPredicate(where: format, of: entity, in: store)
      try permissions.check(predicate, by: peer)
      request.predicate = predicate
    }
    request.sortDescriptors = query.sort.map { FetchSortDescriptor($0.keyPath, ascending: $0.ascending) }
    request.fetchLimit = query.limit
    request.fetchOffset = query.offset
    return request
  }

  /// Reads in a context of its own, off the main queue and off the cooperative pool, for no longer than the peer may, than
  /// its task wants it, and than the daemon runs.
  /// - Parameter peer: nil for the limit of a member.
  func reading<T: Sendable>(
    _ store: DataStores.Store, by peer: Peer?, _ body: @escaping @Sendable (ManagedObjectContext) throws -> T
  ) async throws -> T {
    let queue = ContextQueue(.privateQueue, coordinator: store.coordinator, name: "control")
    return try await limit(of: peer).reading { interruption in
      try await queue.perform { context in try interruption.limit { try body(context) } }
    }
  }

  /// How long a query of a peer may take.
  func limit(of peer: Peer?) -> QueryLimit {
    let now = current.now
    let isOperator = peer.map { now.permissions.isOperator($0.uid) } ?? false
    let limits = now.configuration.queries
    return isOperator
      ? QueryLimit(time: limits.operators, key: "queries.operators")
      : QueryLimit(time: limits.members, key: "queries.members")
  }
}

/// The columns of a page of objects: attributes, what to-one relationships lead to, how many objects a to-many relationship
/// leads to, and the numbers of objects.
struct ObjectColumns: Sendable {
  private static let count = "@count"

  /// What a name leads to.
  struct Path: Sendable {
    /// The properties that it leads over. One that ends in a to-many relationship stands for the number of its objects.
    var properties: [PropertyDescription] = []
    /// Whether the name ends in `objectID`: the number of the object that the properties lead to.
    var isNumber = false

    /// Whether a name stands for the object itself where no property has it, as in a predicate.
    static func isNumber(_ name: String) -> Bool { name == "objectID" || name.uppercased() == "SELF" }
  }

  let names: [String]
  let paths: [Path]

  var hasCounts: Bool { paths.contains(where: Self.isCount) }

  /// - Parameter names: key paths over to-one relationships, which may end in `@count` or `objectID`; when empty, every
  ///   attribute and to-one relationship.
  init(_ names: [String], of entity: EntityDescription) throws {
    if names.isEmpty {
      let properties = entity.properties.filter { property in
        !property.isTransient && !((property as? RelationshipDescription)?.isToMany ?? false)
      }
      self.names = properties.map(\.name)
      paths = properties.map { Path(properties: [$0]) }
    } else {
      self.names = names
      paths = try names.map { try Self.path($0, of: entity, field: "columns") }
    }
  }

  /// Refuses to sort by what isn't there.
  static func check(_ sort: [SortKey], of entity: EntityDescription) throws {
    for key in sort { _ = try path(key.keyPath, of: entity, field: "sort") }
  }

  /// The sort keys that are counts.
  static func counts(in sort: [SortKey], of entity: EntityDescription) throws -> [String] {
    try sort.map(\.keyPath).filter { isCount(try path($0, of: entity, field: "sort")) }
  }

  /// Refuses counts: a standing query doesn't learn when they change.
  func refuseCounts(_ sort: [SortKey], of entity: EntityDescription) throws {
    guard try hasCounts || !Self.counts(in: sort, of: entity).isEmpty else { return }
    throw ControlError.invalid(
      field: hasCounts ? "columns" : "sort", reason: "a standing query doesn't follow counts",
      hint: "Leave out what ends in \(Self.count), or ask without following.")
  }

  /// The columns for a fetch of dictionaries, and the counts that it is sorted by.
  func selection(sortedBy counts: [String]) throws -> [FetchedProperty] {
    func count(_ name: String) throws -> FetchedProperty {
      .expression(try ExpressionDescription(name, format: "%K", name))
    }
    let shown = try zip(names, paths).map { name, path -> FetchedProperty in
      if Self.isCount(path) { return try count(name) }
      let other = path.isNumber ? nil : path.properties.last as? RelationshipDescription
      let key = other?.destinationEntity.singleKey
      return .expression(ExpressionDescription(name, .keyPath(name + (key.map { ".\($0.name)" } ?? ""))))
    }
    return try shown + counts.filter { !names.contains($0) }.map(count)
  }

  /// What objects are counted by: an attribute or a to-one relationship.
  /// - Throws: ``ControlError/invalid(field:reason:hint:)``.
  static func groupPath(_ name: String, of entity: EntityDescription) throws -> Path {
    let path = try path(name, of: entity, field: "by")
    guard !path.isNumber, !isCount(path), !path.properties.isEmpty else {
      throw ControlError.invalid(
        field: "by", reason: "\(name) is a number of its own for each object",
        hint: "Name an attribute or a to-one relationship.")
    }
    return path
  }

  private static func isCount(_ path: Path) -> Bool {
    (path.properties.last as? RelationshipDescription)?.isToMany ?? false
  }

  private static func path(_ name: String, of entity: EntityDescription, field: String) throws -> Path {
    var path = Path()
    var current: EntityDescription? = entity
    var parts = name.split(separator: ".").map(String.init)
    let isCounted = parts.last == count
    if isCounted { parts.removeLast() }
    var index = 0
    while index < parts.count {
      let part = parts[index]
      // Several parts for an element of a composite attribute.
      let found = current?.property(beginning: parts[index...])
      if found == nil, current != nil, !isCounted, index == parts.count - 1, Path.isNumber(part) {
        path.isNumber = true
        return path
      }
      guard let (property, length) = found else {
        throw ControlError.invalid(
          field: field, reason: "\(current?.name ?? name) has no property \(part)",
          hint: current.map { entity in
            let known = entity.properties.map(\.name)
            let meant = NearestName.of(part, among: known).map { "Did you mean \($0)? " } ?? ""
            return meant + "It has \(known.joined(separator: ", "))."
          })
      }
      path.properties.append(property)
      index += length
      let relationship = property as? RelationshipDescription
      if relationship?.isToMany == true, !isCounted || index < parts.count {
        let counted = (parts.prefix(index) + [count]).joined(separator: ".")
        throw ControlError.invalid(
          field: field, reason: "\(name) leads over a to-many relationship",
          hint: "\(counted) is the number of its objects.")
      }
      current = relationship?.destinationEntity
    }
    guard !isCounted || isCount(path) else {
      throw ControlError.invalid(
        field: field,
        reason: "\(name) counts the objects of a to-many relationship, and "
          + "\(parts.joined(separator: ".")) isn't one")
    }
    return path
  }

  static func value(_ path: Path, of object: ManagedObject) -> JSONValue {
    var current: ManagedObject? = object
    for property in path.properties.dropLast(path.isNumber ? 0 : 1) { current = current?.object(property.slot) }
    guard let current else { return .null }
    if path.isNumber { return .int(current.objectID.number) }
    guard let last = path.properties.last else { return .null }
    if last is RelationshipDescription {
      guard let other: ManagedObject = current.object(last.slot) else { return .null }
      return key(of: other)
    }
    return JSONValue(current.value(at: last.slot))
  }

  /// What people know an object by: its first uniqueness constraint of one attribute, or else its number.
  private static func key(of object: ManagedObject) -> JSONValue {
    guard let key = object.entity.singleKey else { return .int(object.objectID.number) }
    return JSONValue(object.value(at: key.slot))
  }
}

extension EntityDescription {
  /// The attribute of its first uniqueness constraint of one attribute.
  fileprivate var singleKey: AttributeDescription? {
    uniquenessConstraints.first { $0.count == 1 }?.first
  }

  fileprivate var shownAttributes: [Store.Attribute] {
    attributes.filter { !$0.isTransient }.map { Store.Attribute(name: $0.name, type: $0.type.rawValue) }
  }

  fileprivate var shownRelationships: [Store.Relationship] {
    relationships.filter { !$0.isUnstored }.map { relationship in
      Store.Relationship(
        name: relationship.name, entity: relationship.destinationEntity.name, isToMany: relationship.isToMany,
        inverse: relationship.inverseRelationship?.name)
    }
  }
}

extension JSONValue {
  init(_ value: Value) {
    switch value {
    case .null, .unresolved, .objects, .orderedObjects, .composite: self = .null
    case .bool(let flag): self = .bool(flag)
    case .int(let number): self = .int(number)
    case .double(let number): self = .double(number)
    case .string(let text): self = .string(text)
    // The texts of dates are in UTC.
    case .date(let date):
      self = .string(ISODate.text(of: date).map { $0.replacing(" ", with: "T") + "Z" } ?? date.description)
    case .decimal, .data, .uuid, .uri: self = .string(value.plainText)
    case .object(let id): self = .int(id.number)
    }
  }
}

extension FetchPredicate {
  /// The predicate of a client's `where`, in which numbers of objects may stand.
  /// - Throws: ``ControlError/invalid(field:reason:hint:)``.
  init(where format: String, of entity: EntityDescription, in store: DataStores.Store) throws {
    let predicate: FetchPredicate
    do {
      predicate = try FetchPredicate(format: format)
    } catch {
      throw ControlError.invalid(field: "where", reason: "\(error)")
    }
    self = try ObjectNumbers(coordinator: store.coordinator).resolved(predicate, of: entity)
  }
}

extension DaemonBackend {
  func watch(_ query: WatchQuery, by peer: Peer) async throws -> AsyncStream<WatchEvent> {
    let (store, entity) = try target(ObjectQuery(entity: query.entity, store: query.store))
    return try await standing.follow(query, of: entity, in: store, limit: limit(of: peer))
  }
}

extension DaemonBackend {
  /// Objects of a store whose file is no larger are counted without being asked for: that takes some milliseconds.
  private static let cheaplyCounted: Int64 = 16 << 20

  func stores(_ query: StoreCountQuery) async throws -> [Store] {
    var all: [Store] = []
    for store in stores.all { all.append(try await shown(store, query)) }
    return all
  }

  func store(_ name: String, _ query: StoreCountQuery) async throws -> Store {
    guard let store = stores[name] else { throw ControlError.noSuchStore(name, known: stores.names) }
    return try await shown(store, query)
  }

  /// Looks at folders, which may be on a slow device.
  private static let backupQueue = DispatchQueue(label: "control.backups")

  func backups(of name: String) async throws -> BackupList {
    guard let store = stores[name] else { throw ControlError.noSuchStore(name, known: stores.names) }
    let folder = configuration.backupFolder(of: store.configuration)
    let backups = try await Self.backupQueue.result {
      try StoreBackup.all(of: name, in: URL(fileURLWithPath: folder), form: store.configuration.place.copyForm)
    }
    return BackupList(
      folder: folder,
      backups: backups.map { Backup(name: $0.name, madeAt: $0.madeAt, size: $0.size, job: $0.job) })
  }

  /// Refuses a restore of a backup that isn't there, unless a job before it may make it.
  func checkBackup(of submission: JobSubmission) async throws {
    guard submission.kind == RestoreOperation.kind, submission.after.isEmpty, submission.notBefore == nil,
      case .string(let backup) = submission.options["backup"],
      let store = submission.store.map({ stores[$0] }) ?? stores.only
    else { return }
    let folder = configuration.backupFolder(of: store.configuration)
    do {
      try await Self.backupQueue.result {
        try StoreBackup.check(
          backup, of: store.configuration.name, in: URL(fileURLWithPath: folder),
          form: store.configuration.place.copyForm)
      }
    } catch let failure as JobFailure {
      throw ControlError.invalid(
        field: "options", reason: failure.message,
        hint: "'ladectl store backups \(store.configuration.name)' lists the backups.")
    }
  }

  private func shown(_ store: DataStores.Store, _ query: StoreCountQuery) async throws -> Store {
    let sizes = try await Self.backupQueue.result { store.sizes ?? StoreSizes(content: 0, log: 0) }
    var counts: [String: Int] = [:]
    if query.counts ?? (sizes.content <= Self.cheaplyCounted) {
      counts = try await reading(store, by: nil) { context in
        var counts: [String: Int] = [:]
        for name in store.entities {
          counts[name] = try context.count(for: FetchRequest<ManagedObject>(entityName: name))
        }
        return counts
      }
    }
    return Store(
      name: store.configuration.name, path: store.configuration.place.shown, model: store.configuration.model,
      size: sizes.content,
      walSize: sizes.log,
      entities: store.entities.sorted().map { name in
        let entity = store.coordinator.model.entitiesByName[name]
        return Store.Entity(
          name: name, isAbstract: entity?.isAbstract ?? false, count: counts[name],
          properties: entity?.properties.map(\.name) ?? [], attributes: entity?.shownAttributes ?? [],
          relationships: entity?.shownRelationships ?? [])
      })
  }
}
