/// The schema of a file, as the records that it has: each column of the file is a value, a list, or an object.
struct ParquetSchema {
  /// What a part of a record is, once it isn't null.
  enum Shape {
    case value
    /// An object with these members.
    case object([Member])
    /// Values at a level of repetition. Each begins at the level, and there is one from a level of definition on.
    case list(Member, repetition: UInt32, definition: UInt32)
    /// An object whose names are values, too.
    case map(key: Member, value: Member, repetition: UInt32, definition: UInt32)
  }

  /// A part of a record: a column of it, a member of an object, or what a list has.
  final class Member {
    let name: String
    /// `"name":`, as JSON has it.
    let key: [UInt8]
    let shape: Shape
    /// The level of definition from which on it isn't null; 0 if it is never null.
    let definition: UInt32
    /// Its leaves in the file.
    let leaves: Range<Int>

    init(name: String, shape: Shape, definition: Int, leaves: Range<Int>) {
      self.name = name
      self.shape = shape
      self.definition = UInt32(definition)
      self.leaves = leaves
      var key: [UInt8] = []
      JSONString.quote(name.utf8, to: &key)
      self.key = key + [UInt8(ascii: ":")]
    }
  }

  /// The columns of the records.
  private(set) var columns: [Member] = []
  /// All columns of the file, in its order.
  private(set) var leaves: [ParquetLeaf] = []

  static let columnLimit = 16_384
  private static let nameLimit = 1 << 20
  /// Each column has its path.
  private static let pathLimit = 4 << 10
  private static let depthLimit = 64

  /// - Parameter binaryAsText: whether bytes without an annotation are texts, as older programs write them.
  init(_ elements: [ParquetSchemaElement], binaryAsText: Bool) throws(ParquetError) {
    guard let root = elements.first, root.type == nil else { throw Self.malformed("it has no root") }
    guard elements.count <= 4 * Self.columnLimit, elements.reduce(0, { $0 + $1.name.utf8.count }) <= Self.nameLimit
    else { throw .tooManyColumns(limit: Self.columnLimit) }
    var builder = Builder(elements: elements, binaryAsText: binaryAsText)
    columns = try builder.members(root.children, Place(), depth: 0)
    guard builder.next == elements.count else { throw Self.malformed("it has more elements than its groups") }
    leaves = builder.leaves
    guard !columns.isEmpty else { throw Self.malformed("it has no columns") }
  }

  private static func malformed(_ what: String) -> ParquetError { .malformed(part: "the schema", what: what) }

  /// Where an element stands: the levels at it, and its path.
  private struct Place {
    var repetition = 0
    var definition = 0
    var path: [String] = []
    /// The bytes of the path.
    var length = 0

    func inside(_ element: ParquetSchemaElement) -> Place {
      var place = self
      place.path.append(element.name)
      place.length += element.name.utf8.count + 1
      if element.repetition != .required { place.definition += 1 }
      if element.repetition == .repeated { place.repetition += 1 }
      return place
    }
  }

  private struct Builder {
    let elements: [ParquetSchemaElement]
    let binaryAsText: Bool
    var next = 1
    var leaves: [ParquetLeaf] = []

    mutating func members(_ count: Int64, _ place: Place, depth: Int) throws(ParquetError) -> [Member] {
      guard depth < ParquetSchema.depthLimit else { throw malformed("its groups nest too deep") }
      guard count >= 0, count <= Int64(elements.count - next) else { throw malformed("a group has no members") }
      var members: [Member] = []
      var names: Set<String> = []
      for _ in 0..<count {
        guard next < elements.count else { throw malformed("a group has no members") }
        let element = elements[next]
        let member = try member(place, depth: depth)
        guard names.insert(element.name).inserted else { throw malformed("two columns are called “\(member.name)”") }
        members.append(member)
      }
      return members
    }

    /// The next element, with all that is in it.
    private mutating func member(_ outer: Place, depth: Int) throws(ParquetError) -> Member {
      guard next < elements.count else { throw malformed("a group has no members") }
      let element = elements[next]
      let first = leaves.count
      guard element.repetition != nil else { throw malformed("“\(element.name)” has no repetition") }
      let place = outer.inside(element)
      let shape = try content(place, depth: depth)
      let definition = element.repetition == .optional ? place.definition : 0
      let member = Member(name: element.name, shape: shape, definition: definition, leaves: first..<leaves.count)
      guard element.repetition == .repeated else { return member }
      // Without the annotation of a list, it is one of what repeats.
      return Member(name: element.name, shape: list(of: member, place), definition: 0, leaves: member.leaves)
    }

    private func list(of member: Member, _ place: Place) -> Shape {
      .list(member, repetition: UInt32(place.repetition), definition: UInt32(place.definition))
    }

    /// What the next element holds, once it is there.
    private mutating func content(_ place: Place, depth: Int) throws(ParquetError) -> Shape {
      let element = elements[next]
      next += 1
      guard place.length <= ParquetSchema.pathLimit else { throw malformed("a column's path is too long") }
      guard element.type == nil else {
        guard leaves.count < ParquetSchema.columnLimit else { throw .tooManyColumns(limit: ParquetSchema.columnLimit) }
        leaves.append(
          try ParquetLeaf(element, place.path, place.repetition, place.definition, binaryAsText: binaryAsText))
        return .value
      }
      guard depth < ParquetSchema.depthLimit else { throw malformed("its groups nest too deep") }
      switch element.annotation {
      case .list where element.children == 1 && next < elements.count && elements[next].repetition == .repeated:
        return try list(element, place, depth: depth + 1)
      case .map
      where element.children == 1 && next < elements.count && elements[next].repetition == .repeated
        && elements[next].type == nil && elements[next].children == 2 && next + 1 < elements.count
        && elements[next + 1].type != nil && elements[next + 1].repetition != .repeated:
        return try map(place, depth: depth + 1)
      default:
        let members = try members(element.children, place, depth: depth + 1)
        guard !members.isEmpty else {
          throw .unsupported(what: "it is a group without members", column: place.path.joined(separator: "."))
        }
        return .object(members)
      }
    }

    /// The list whose repeated element is the next one, in any of the forms in which programs have written it.
    /// Source: the Parquet format, `LogicalTypes.md`, “Backward-compatibility rules”.
    private mutating func list(
      _ list: ParquetSchemaElement, _ place: Place, depth: Int
    ) throws(ParquetError) -> Shape {
      let repeated = elements[next]
      let inner = place.inside(repeated)
      let isElement =
        repeated.type != nil || repeated.children != 1 || repeated.name == "array"
        || repeated.name == list.name + "_tuple"
        || (next + 1 < elements.count && elements[next + 1].repetition == .repeated)
      if isElement {
        let first = leaves.count
        let shape = try content(inner, depth: depth)
        return self.list(
          of: Member(name: repeated.name, shape: shape, definition: 0, leaves: first..<leaves.count), inner)
      }
      next += 1
      return self.list(of: try member(inner, depth: depth), inner)
    }

    private mutating func map(_ place: Place, depth: Int) throws(ParquetError) -> Shape {
      let inner = place.inside(elements[next])
      next += 1
      let key = try member(inner, depth: depth)
      let value = try member(inner, depth: depth)
      return .map(
        key: key, value: value, repetition: UInt32(inner.repetition), definition: UInt32(inner.definition))
    }

    private func malformed(_ what: String) -> ParquetError { ParquetSchema.malformed(what) }
  }
}
