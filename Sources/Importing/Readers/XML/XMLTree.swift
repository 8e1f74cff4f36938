/// One element in memory, with everything in it: a list of nodes in the order they are written, each knowing where
/// what is in it ends. Made once and used for element after element; places are distances from the element's `<`.
///
/// `<a id="1">x<b/></a>` is an element `a` with an attribute, a text and an element `b`: four nodes.
struct XMLTree {
  enum Kind: UInt8 { case element, attribute, text, literal }

  struct Node {
    var kind: Kind
    /// Number of the path from the element down; -1 for texts, and for the element itself.
    var path: Int32 = -1
    var parent: Int32
    /// Index after the last node in this one.
    var end: Int32 = 0
    var name: Range<Int> = 0..<0
    /// Of an attribute or a text: its value, as written.
    var text: Range<Int> = 0..<0
    /// The next element of the same name in the same parent, or 0.
    var next: Int32 = 0
    /// Whether there is one before it.
    var isRepeated = false
    var hasElements = false
    var hasAttributes = false
    var isNil = false
  }

  private(set) var nodes: [Node] = []
  /// Every path met so far, such as `address.city` and `address.@type`.
  private(set) var paths = KeyTable(names: [])
  private var scanner = XMLScanner()
  /// The last node of each path, for finding the one before an element.
  private var last: [Int32] = []
  private var path: [UInt8] = []
  private var open: [(node: Int32, pathLength: Int)] = []

  /// Reads the element that begins at `start`, `depth` levels deep.
  mutating func parse(_ start: BytePointer, _ end: BytePointer, depth: Int) -> XMLScanner.Scan {
    nodes.removeAll(keepingCapacity: true)
    path.removeAll(keepingCapacity: true)
    open.removeAll(keepingCapacity: true)
    var place = start
    while true {
      let scan = scanner.next(place, end)
      guard case .token(let token, let next) = scan else { return scan }
      switch token {
      case .start(let name, let isEmpty):
        if let mistake = begin(name, at: start, depth: depth) { return .mistake(mistake, at: place) }
        if isEmpty { finish() }
      case .end(let name):
        guard let top = open.last, Self.equal(name, start, nodes[Int(top.node)].name) else {
          return .mistake(.wrongEndTag, at: place)
        }
        finish()
      case .text(let text): append(.text, text, at: start)
      case .literal(let text): append(.literal, text, at: start)
      case .passedOver: break
      case .doctype: return .mistake(.misplacedDoctype, at: place)
      }
      if nodes.count > XMLMistake.maximumParts { return .mistake(.tooManyParts, at: place) }
      place = next
      if open.isEmpty { return .token(token, end: place) }
    }
  }

  private mutating func begin(_ name: UnsafeBufferPointer<UInt8>, at start: BytePointer, depth: Int) -> XMLMistake? {
    guard depth + open.count < XMLMistake.maximumDepth else { return .tooDeep }
    let index = Int32(nodes.count)
    let pathLength = path.count
    var node = Node(kind: .element, parent: open.last?.node ?? -1, name: Self.range(name, start))
    if let parent = open.last?.node {
      guard let number = number(name, prefix: "") else { return .tooManyColumns }
      node.path = number
      if let before = self.before(number, in: parent) {
        nodes[before].next = index
        node.isRepeated = true
      }
      last[Int(number)] = index
      nodes[Int(parent)].hasElements = true
    }
    nodes.append(node)
    open.append((index, pathLength))
    for attribute in scanner.attributes {
      if Self.equal(attribute.name, "xmlns") || attribute.name.starts(with: Self.namespace) { continue }
      if Self.equal(attribute.name, "xsi:nil") {
        nodes[Int(index)].isNil = Self.equal(attribute.value, "true") || Self.equal(attribute.value, "1")
        continue
      }
      let length = path.count
      guard let number = number(attribute.name, prefix: "@") else { return .tooManyColumns }
      path.removeSubrange(length...)
      if before(number, in: index) != nil { return .duplicateAttribute }
      last[Int(number)] = Int32(nodes.count)
      nodes[Int(index)].hasAttributes = true
      nodes.append(
        Node(
          kind: .attribute, path: number, parent: index, end: Int32(nodes.count + 1),
          name: Self.range(attribute.name, start), text: Self.range(attribute.value, start)))
    }
    return nil
  }

  private mutating func finish() {
    guard let (node, pathLength) = open.popLast() else { return }
    nodes[Int(node)].end = Int32(nodes.count)
    path.removeSubrange(pathLength...)
  }

  private mutating func append(_ kind: Kind, _ text: UnsafeBufferPointer<UInt8>, at start: BytePointer) {
    nodes.append(
      Node(kind: kind, parent: open.last?.node ?? -1, end: Int32(nodes.count + 1), text: Self.range(text, start)))
  }

  /// Lengthens the path by a name; nil if there are too many.
  private mutating func number(_ name: UnsafeBufferPointer<UInt8>, prefix: String) -> Int32? {
    if !path.isEmpty { path.append(UInt8(ascii: ".")) }
    path.append(contentsOf: prefix.utf8)
    path.append(contentsOf: name)
    let expected = nodes.last { $0.path >= 0 }.map { Int($0.path) + 1 } ?? 0
    guard let number = path.withUnsafeBufferPointer({ paths.column(of: $0, expected: expected) }) else { return nil }
    while last.count <= number { last.append(-1) }
    return Int32(number)
  }

  /// The last node of a path, if it is in this parent. What is left from an element read before is recognised by that.
  private func before(_ path: Int32, in parent: Int32) -> Int? {
    let index = Int(last[Int(path)])
    guard nodes.indices.contains(index), nodes[index].path == path, nodes[index].parent == parent else { return nil }
    return index
  }

  private static let namespace = Array("xmlns:".utf8)

  private static func equal(_ name: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    name.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private static func equal(_ name: UnsafeBufferPointer<UInt8>, _ start: BytePointer, _ range: Range<Int>) -> Bool {
    name.elementsEqual(UnsafeBufferPointer(start: start + range.lowerBound, count: range.count))
  }

  private static func range(_ bytes: UnsafeBufferPointer<UInt8>, _ start: BytePointer) -> Range<Int> {
    let first = bytes.baseAddress.map { $0 - start } ?? 0
    return first..<first + bytes.count
  }
}
