/// What a compiled model may consist of: far more than models have, and little enough that a model which somebody made up takes
/// no more than some hundred megabytes and seconds.
struct CompiledModelLimits {
  /// The bytes of an archive, unpacked: those of some 40,000 properties.
  static let size = 16 << 20
  /// The bytes of a regular expression.
  static let pattern = 64 << 10
  static let warnings = 1_000
  private static let entities = 5_000
  /// Properties of all entities, the elements of composites among them, and indexes.
  private static let properties = 50_000
  /// The bytes of a name that messages repeat.
  private static let name = 1_000
  /// What properties become when entities inherit them, and relationships when they may lead to all entities of a hierarchy.
  private static let inherited = 500_000

  private var entitiesLeft = Self.entities
  private var propertiesLeft = Self.properties

  /// Counts an entity that is about to be read.
  mutating func countEntity(_ name: String) throws(ArchiveDamage) {
    try check(name)
    entitiesLeft -= 1
    guard entitiesLeft >= 0 else { throw ArchiveDamage("it has more than \(Self.entities) entities") }
  }

  /// Counts a property or index that is about to be read.
  mutating func countProperty(_ name: String) throws(ArchiveDamage) {
    try check(name)
    propertiesLeft -= 1
    guard propertiesLeft >= 0 else { throw ArchiveDamage("it has more than \(Self.properties) properties and indexes") }
  }

  private func check(_ name: String) throws(ArchiveDamage) {
    guard name.utf8.count <= Self.name else {
      throw ArchiveDamage("the name \(name.prefix(40))… has more than \(Self.name) bytes")
    }
  }

  /// Refuses entities that would become much more than was read: in deep hierarchies, or wide ones with many properties.
  static func check(_ entities: [EntityDefinition]) throws(ArchiveDamage) {
    let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    var sizes: [String: Int] = [:]
    var roots: [String: String] = [:]
    var left = inherited
    for entity in entities {
      var (top, depth) = (entity, 1)
      left -= top.size
      while let parent = top.parent.flatMap({ byName[$0] }), parent.name != entity.name {
        depth += 1
        guard depth <= ModelAssembly.depthLimit else {
          throw ArchiveDamage("\(entity.name) inherits from \(ModelAssembly.depthLimit) entities or more")
        }
        left -= parent.size
        top = parent
      }
      guard left >= 0 else { throw ArchiveDamage("its entities inherit more properties than those of a model") }
      roots[entity.name] = top.name
      sizes[top.name, default: 0] += 1
    }
    for relationship in entities.lazy.flatMap(\.relationships) {
      left -= roots[relationship.destination].flatMap { sizes[$0] } ?? 0
      guard left >= 0 else { throw ArchiveDamage("its relationships lead to more entities than those of a model") }
    }
  }
}

extension EntityDefinition {
  /// The number of its own attributes and relationships.
  fileprivate var size: Int {
    attributes.reduce(relationships.count) { $0 + $1.size }
  }
}

extension AttributeDefinition {
  /// 1, and what is in it.
  fileprivate var size: Int { compositeElements.reduce(1) { $0 + $1.size } }
}
