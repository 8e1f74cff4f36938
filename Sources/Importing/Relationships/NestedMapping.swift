import ManagedObjects
import Synchronization

/// How nested objects become objects of an entity: by names and key paths, as records do by columns in ``RecordMapping``.
///
/// An attribute takes the value under its `mappedKeyName`, a path of keys (`address.city`), or under the first of
/// `mappedKeyName.1` to `.9` that is there; without these, under its name. The elements of a composite attribute stand in an
/// object under the composite's name, since their names are such paths. These are the rules of MagicalRecord's data import.
final class NestedMapping: Sendable {
  struct Attribute: Sendable {
    let attribute: AttributeDescription
    let paths: [[String]]
    let converter: NestedConverter
  }

  struct Relationship: Sendable {
    let relationship: RelationshipDescription
    let paths: [[String]]
    let end: NestedEnd
  }

  let entity: EntityDescription
  let attributes: [Attribute]
  let relationships: [Relationship]

  init(_ entity: EntityDescription) {
    self.entity = entity
    attributes = entity.attributes.filter { !$0.isTransient && $0.definition.derivationExpression == nil }.map {
      Attribute(attribute: $0, paths: Self.paths($0), converter: NestedConverter($0))
    }
    relationships = entity.relationships.filter { !$0.isUnstored }.map {
      Relationship(
        relationship: $0, paths: Self.paths($0), end: NestedEnd($0, ReferenceMapping.key(of: $0, MappingOptions())))
    }
  }

  /// The key paths of a property, in the order in which they are tried.
  static func paths(_ property: PropertyDescription) -> [[String]] {
    var names = [property.userInfo["mappedKeyName"] ?? property.name]
    for number in 1...9 {
      guard let name = property.userInfo["mappedKeyName.\(number)"] else { break }
      names.append(name)
    }
    return names.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
  }
}

/// Where a relationship leads, and how its objects are found if only a key is given.
struct NestedEnd: Sendable {
  let relationship: RelationshipDescription
  /// nil if a key alone finds nothing.
  let key: AttributeDescription?
  let converter: ValueConverter?

  init(_ relationship: RelationshipDescription, _ key: Result<AttributeDescription, ReferenceMapping.KeyProblem>) {
    self.relationship = relationship
    switch key {
    case .success(let key):
      do {
        converter = try ValueConverter(
          attribute: key, dateFormat: key.userInfo["dateFormat"], emptyStringIsNull: true)
        self.key = key
      } catch {
        // Nothing converts to the type of the key, so only objects can be given.
        converter = nil
        self.key = nil
      }
    case .failure:
      converter = nil
      self.key = nil
    }
  }
}

/// Converts nested values into those of one attribute.
enum NestedConverter: Sendable {
  case plain(ValueConverter)
  /// For a Codable type, which the store keeps as JSON.
  case codable
  /// Nothing can be given for the attribute; with the reason.
  case none(String)

  /// - Parameter rules: the recipe's, if the attribute belongs to the entity that is imported.
  init(_ attribute: AttributeDescription, _ rules: MappingRules? = nil) {
    if attribute.type == .transformable, rules?.isList(attribute) != true {
      self = attribute.isCodable ? .codable : .none("its transformer takes nothing but the program's own values")
      return
    }
    do {
      self = .plain(
        try rules?.converter(for: attribute)
          ?? ValueConverter(attribute: attribute, dateFormat: attribute.userInfo["dateFormat"]))
    } catch {
      self = .none("\(error)")
    }
  }

  func value(_ nested: NestedValue, of attribute: AttributeDescription) -> Result<Value, RecordFields.Problem> {
    switch self {
    case .plain(let converter):
      do throws(ConversionCode) {
        return .success(try converter.convert(nested))
      } catch {
        return .failure(.init(code: error.rawValue, message: converter.problem(error, nested).description))
      }
    case .codable: return .success(nested == .null ? .null : .data(nested.data))
    case .none(let reason): return .failure(.init(code: "unsupported_type", message: "\(attribute.name): \(reason)"))
    }
  }
}

/// The mappings of the entities of nested objects, made when they are first needed, and what an import has learnt of these
/// objects.
final class NestedMappings: Sendable {
  private let known = Mutex<[String: NestedMapping]>([:])
  /// How many batches of nested objects are converted for objects at once, because the store had some of one.
  private let objectBatches = Atomic<Int>(0)

  /// Notes that the store had objects of a batch: those of the next ones are probably there too.
  func noteFound() { objectBatches.store(8, ordering: .relaxed) }

  /// Whether the next batch is to be converted for objects.
  func expectsObjects() -> Bool {
    guard objectBatches.load(ordering: .relaxed) > 0 else { return false }
    objectBatches.subtract(1, ordering: .relaxed)
    return true
  }

  subscript(entity: EntityDescription) -> NestedMapping {
    known.withLock { known in
      if let mapping = known[entity.name] { return mapping }
      let mapping = NestedMapping(entity)
      known[entity.name] = mapping
      return mapping
    }
  }
}
