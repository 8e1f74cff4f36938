/// Turns an element in memory into the cells of a record: a column for each path in it.
///
/// `<p id="7"><name>Ann</name><at><city>Graz</city></at><tag>x</tag><tag>y</tag></p>` is `@id` 7, `name` Ann,
/// `at.city` Graz, and `tag` the nested value `["x","y"]`: an element that comes more than once in its parent is a JSON
/// array in one column. Text directly in the record is `#text`. An element without content is empty; with
/// `xsi:nil="true"`, null.
struct XMLColumns {
  private(set) var columns: KeyTable
  var tree = XMLTree()
  /// The column of a path; -1 as long as it has none.
  private var columnOfPath: [Int32] = []
  private var textColumn: Int?
  /// Cells whose text isn't part of the record's bytes, with the nodes that it comes from.
  private var composed: [(cell: Int, node: Int, isArray: Bool)] = []
  private var scratch: [UInt8] = []

  init(names: [String]) { columns = KeyTable(names: names) }

  /// Appends the cells of the element that the tree has read. False if there are too many columns.
  mutating func appendCells(at start: BytePointer, into storage: UnsafeMutablePointer<BatchStorage>) -> Bool {
    let firstCell = storage.pointee.cellCount
    let arena = storage.pointee.arenaCount
    storage.pointee.appendMissing(columns.names.count)
    composed.removeAll(keepingCapacity: true)

    func set(_ kind: Cell.Kind, _ text: Range<Int>, in column: Int) -> Int {
      let cell = firstCell + column
      if cell >= storage.pointee.cellCount {
        storage.pointee.appendMissing(cell + 1 - storage.pointee.cellCount)
      }
      storage.pointee.cells[cell] = Cell(
        kind: kind, offset: UInt32(truncatingIfNeeded: arena + text.lowerBound),
        length: UInt32(truncatingIfNeeded: text.count))
      return cell
    }
    var index = 0
    while index < tree.nodes.count {
      let node = tree.nodes[index]
      let this = index
      index += 1
      switch node.kind {
      case .text, .literal: continue
      case .attribute:
        guard let column = column(of: node.path) else { return false }
        let cell = set(.text, node.text, in: column)
        if XMLText.valueNeedsDecoding(from: start + node.text.lowerBound, to: start + node.text.upperBound) {
          composed.append((cell, this, false))
        }
      case .element where node.isRepeated: index = Int(node.end)
      case .element where node.next > 0:
        guard let column = column(of: node.path) else { return false }
        composed.append((set(.nested, 0..<0, in: column), this, true))
        index = Int(node.end)
      case .element:
        let text = tree.text(of: this, at: start)
        if case .none = text, node.hasElements || node.hasAttributes || node.path < 0, !node.isNil { continue }
        guard let column = column(of: node.path) else { return false }
        switch text {
        case .none: _ = set(node.isNil ? .null : .empty, 0..<0, in: column)
        case .verbatim(let range): _ = set(.text, range, in: column)
        case .composed: composed.append((set(.text, 0..<0, in: column), this, false))
        }
      }
    }
    return true
  }

  /// Writes the composed texts, once the record's bytes are in the batch; they are still at `start`.
  mutating func composeTexts(at start: BytePointer, in storage: UnsafeMutablePointer<BatchStorage>) {
    for (cell, node, isArray) in composed {
      scratch.removeAll(keepingCapacity: true)
      if isArray {
        tree.appendArray(from: node, at: start, to: &scratch)
      } else if tree.nodes[node].kind == .attribute {
        tree.append(valueOf: node, at: start, to: &scratch)
      } else {
        tree.appendText(of: node, at: start, to: &scratch)
      }
      storage.pointee.replace(cell: cell, by: scratch)
    }
  }

  private mutating func column(of path: Int32) -> Int? {
    guard path >= 0 else {
      if textColumn == nil { textColumn = column(named: "#text") }
      return textColumn
    }
    while columnOfPath.count < tree.paths.names.count { columnOfPath.append(-1) }
    let known = columnOfPath[Int(path)]
    if known >= 0 { return Int(known) }
    guard let column = column(named: tree.paths.names[Int(path)]) else { return nil }
    columnOfPath[Int(path)] = Int32(column)
    return column
  }

  private mutating func column(named name: String) -> Int? {
    var name = name
    return name.withUTF8 { columns.column(of: $0, expected: columns.names.count) }
  }
}
