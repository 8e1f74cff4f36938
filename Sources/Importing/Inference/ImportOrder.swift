package import ManagedObjects

/// The entity of each of several files, and the order in which they are imported so that the targets of a record's references
/// exist before the record.
///
/// A file is its entity's by the entity's user info `mappedFileName`; without one, by its name: `stop_times.txt`,
/// `StopTimes.csv` and `stop_time.json.gz` are all `StopTime`'s. Folders before the name don't matter.
package struct ImportOrder: Sendable, Hashable {
  /// The key of an entity's user info that names its file: without folders, with or without the ending.
  package static let fileNameKey = "mappedFileName"

  /// One file to import.
  package struct Step: Sendable, Hashable {
    /// The file's name, as it was given.
    package let file: String
    package let entity: String
  }

  /// The files in import order.
  package let steps: [Step]
  /// Entities that refer to each other in a cycle, so that no order has each of them after its targets: each cycle
  /// from the entity that comes first, whose references are resolved later or left empty.
  package let cycles: [[String]]
  /// Files without an entity.
  package let unmatched: [String]

  /// The order of these files. Files that don't refer to each other keep the given order.
  package init(_ entities: [EntityDescription], files: [String]) {
    let matching = FileMatching(entities)
    var steps: [Step] = []
    var unmatched: [String] = []
    for file in files {
      if let entity = matching.entity(of: file) {
        steps.append(Step(file: file, entity: entity.name))
      } else {
        unmatched.append(file)
      }
    }
    var seen: Set<String> = []
    let names = steps.map(\.entity).filter { seen.insert($0).inserted }
    var sorting = DependencySorting(names: names, dependencies: Self.dependencies(among: names, of: entities))
    sorting.run()
    let byEntity = Dictionary(grouping: steps, by: \.entity)
    self.steps = sorting.order.flatMap { byEntity[$0] ?? [] }
    cycles = sorting.cycles
    self.unmatched = unmatched
  }

  /// For each entity, those of the given names that it refers to, except itself.
  private static func dependencies(
    among names: [String], of entities: [EntityDescription]
  ) -> [String: [DependencySorting.Dependency]] {
    let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    var found: [String: [DependencySorting.Dependency]] = [:]
    for name in names {
      for relationship in byName[name]?.relationships ?? [] where refers(relationship) {
        let destination = relationship.destinationEntity
        for other in names where other != name {
          guard let entity = byName[other], entity.isKindOf(destination) else { continue }
          found[name, default: []].append(.init(on: other, isOptional: relationship.isOptional))
        }
      }
    }
    return found
  }

  /// Whether this end's records hold the key of the related objects, and not the other end's.
  private static func refers(_ relationship: RelationshipDescription) -> Bool {
    if isMapped(relationship) { return true }
    if relationship.isToMany { return false }
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { return true }
    return !isMapped(inverse)
  }

  private static func isMapped(_ relationship: RelationshipDescription) -> Bool {
    ["mappedKeyName", "mappedKeyTemplate", "relatedByAttribute"].contains { relationship.userInfo[$0] != nil }
  }
}

/// Sorts names after those that they depend on.
struct DependencySorting {
  struct Dependency {
    let on: String
    let isOptional: Bool
  }

  private var remaining: [String]
  private let dependencies: [String: [Dependency]]
  private(set) var order: [String] = []
  private(set) var cycles: [[String]] = []

  init(names: [String], dependencies: [String: [Dependency]]) {
    remaining = names
    self.dependencies = dependencies
  }

  mutating func run() {
    while !remaining.isEmpty {
      let left = Set(remaining)
      if let ready = remaining.firstIndex(where: { unmet(of: $0, in: left).isEmpty }) {
        order.append(remaining.remove(at: ready))
        continue
      }
      // Everything left depends on something left: following the dependencies leads into a cycle.
      let ring = ring(in: left)
      let first = ring.firstIndex { name in unmet(of: name, in: Set(ring)).allSatisfy(\.isOptional) } ?? 0
      cycles.append(Array(ring[first...] + ring[..<first]))
      order.append(ring[first])
      remaining.removeAll { $0 == ring[first] }
    }
  }

  private func unmet(of name: String, in left: Set<String>) -> [Dependency] {
    (dependencies[name] ?? []).filter { left.contains($0.on) }
  }

  private func ring(in left: Set<String>) -> [String] {
    var path: [String] = []
    var place: [String: Int] = [:]
    var next = remaining[0]
    while place[next] == nil {
      place[next] = path.count
      path.append(next)
      guard let dependency = unmet(of: next, in: left).first else { break }
      next = dependency.on
    }
    return Array(path[(place[next] ?? 0)...])
  }
}

/// Finds the entity of a file.
struct FileMatching {
  private var byFileName: [String: EntityDescription] = [:]
  private var byEntityName: [String: EntityDescription] = [:]

  init(_ entities: [EntityDescription]) {
    for entity in entities where !entity.isAbstract {
      // Entities don't inherit user info.
      if let name = entity.userInfo[ImportOrder.fileNameKey] {
        byFileName[name.lowercased()] = entity
        byFileName[FileNames.base(of: name).lowercased()] = entity
      } else {
        byEntityName[EntityNames.matching(entity.name)] = entity
      }
    }
  }

  func entity(of file: String) -> EntityDescription? {
    let name = FileNames.last(of: file)
    let base = FileNames.base(of: file)
    if let entity = byFileName[name.lowercased()] ?? byFileName[base.lowercased()] { return entity }
    return byEntityName[EntityNames.matching(base)] ?? byEntityName[EntityNames.matching(EntityNames.entity(of: base))]
  }
}
