import Foundation

/// Turns a dictionary of a property list in memory into the cells of a record, a column for each key.
struct PropertyListColumns {
  /// A mistake, and its distance in bytes from the dictionary's beginning.
  struct Fault: Error {
    var mistake: XMLMistake
    var place: Int
  }

  private(set) var columns: KeyTable
  /// Texts that aren't part of the record's bytes, by their cells.
  private var composed: [Int: [UInt8]] = [:]

  init(names: [String]) { columns = KeyTable(names: names) }

  /// In words, the kind of an element of a property list.
  static func kind(of name: some StringProtocol) -> String? {
    switch name {
    case "dict": "a dictionary"
    case "array": "an array"
    case "string": "a string"
    case "integer", "real": "a number"
    case "true", "false": "a Boolean"
    case "date": "a date"
    case "data": "data"
    default: nil
    }
  }

  /// Appends the cells of the dictionary that the tree has read.
  mutating func appendCells(
    of tree: XMLTree, at start: BytePointer, into storage: UnsafeMutablePointer<BatchStorage>
  ) throws(Fault) {
    let firstCell = storage.pointee.cellCount
    let arena = storage.pointee.arenaCount
    composed.removeAll(keepingCapacity: true)
    storage.pointee.appendMissing(columns.names.count)
    for (key, value) in try Self.members(of: 0, in: tree, at: start) {
      let name = Self.text(of: key, in: tree, at: start)
      guard let column = name.withUnsafeBufferPointer({ columns.column(of: $0, expected: columns.names.count) }) else {
        throw Fault(mistake: .tooManyColumns, place: 0)
      }
      let index = firstCell + column
      if index >= storage.pointee.cellCount {
        storage.pointee.appendMissing(index + 1 - storage.pointee.cellCount)
      }
      composed[index] = nil
      var cell = Cell(kind: .text, offset: 0, length: 0)
      switch Self.name(of: value, in: tree, at: start) {
      case "true": cell.kind = .yes
      case "false": cell.kind = .no
      case "dict", "array":
        cell.kind = .nested
        var json: [UInt8] = []
        try Self.appendJSON(of: value, in: tree, at: start, to: &json)
        composed[index] = json
      case let kind:
        let text = Self.scalar(value, kind, in: tree, at: start)
        if kind == "integer" || kind == "real", Self.isNumber(text) { cell.kind = .number }
        if let place = Self.place(of: text, in: value, of: tree, at: start) {
          cell.offset = UInt32(truncatingIfNeeded: arena + place)
          cell.length = UInt32(truncatingIfNeeded: text.count)
        } else {
          composed[index] = text
        }
      }
      storage.pointee.cells[index] = cell
    }
  }

  /// Writes the composed texts, once the record's bytes are in the batch.
  func composeTexts(in storage: UnsafeMutablePointer<BatchStorage>) {
    for (cell, text) in composed { storage.pointee.replace(cell: cell, by: text) }
  }

  /// Where a text stands unchanged in the record.
  private static func place(of text: [UInt8], in element: Int, of tree: XMLTree, at start: BytePointer) -> Int? {
    let first = element + 1
    guard first < tree.nodes[element].end, tree.nodes[first].end == tree.nodes[element].end else { return nil }
    let range = tree.nodes[first].text
    let bytes = UnsafeBufferPointer(start: start + range.lowerBound, count: range.count)
    return tree.nodes[first].kind != .attribute && bytes.elementsEqual(text) ? range.lowerBound : nil
  }

  private static func name(of element: Int, in tree: XMLTree, at start: BytePointer) -> String {
    let name = tree.nodes[element].name
    return String(decoding: UnsafeBufferPointer(start: start + name.lowerBound, count: name.count), as: UTF8.self)
  }

  private static func text(of element: Int, in tree: XMLTree, at start: BytePointer) -> [UInt8] {
    var text: [UInt8] = []
    tree.appendText(of: element, at: start, keepsBlanks: true, to: &text)
    return text
  }

  /// The text of a string as it is, of anything else without white space.
  private static func scalar(_ element: Int, _ kind: String, in tree: XMLTree, at start: BytePointer) -> [UInt8] {
    let text = text(of: element, in: tree, at: start)
    if kind == "string" { return text }
    let plain = text.filter { !JSONToken.isSpace($0) }
    guard kind == "data", plain.withUnsafeBytes({ Base64.isHexadecimal($0) }),
      let data = Data(base64Encoded: Data(plain))
    else { return plain }
    var output: [UInt8] = []
    data.withUnsafeBytes { Base64.appendPlainly($0, to: &output) }
    return output
  }

  private static func isNumber(_ text: [UInt8]) -> Bool {
    text.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return false }
      guard case .end(let place) = JSONToken.number(base, base + bytes.count, final: true) else { return false }
      return place == base + bytes.count
    }
  }

  /// Keys and values of a dictionary, in order.
  private static func members(
    of element: Int, in tree: XMLTree, at start: BytePointer
  ) throws(Fault) -> [(key: Int, value: Int)] {
    var elements: [Int] = []
    tree.forEachElement(of: element) { elements.append($0) }
    var members: [(key: Int, value: Int)] = []
    for index in stride(from: 0, to: elements.count, by: 2) {
      let key = elements[index]
      guard name(of: key, in: tree, at: start) == "key", index + 1 < elements.count else {
        throw Fault(mistake: .notPropertyList, place: tree.nodes[key].name.lowerBound - 1)
      }
      let value = elements[index + 1]
      guard kind(of: name(of: value, in: tree, at: start)) != nil else {
        throw Fault(mistake: .notPropertyList, place: tree.nodes[value].name.lowerBound - 1)
      }
      members.append((key, value))
    }
    return members
  }

  private static func appendJSON(
    of element: Int, in tree: XMLTree, at start: BytePointer, to output: inout [UInt8]
  ) throws(Fault) {
    let kind = name(of: element, in: tree, at: start)
    switch kind {
    case "dict":
      var separator = UInt8(ascii: "{")
      for (key, value) in try members(of: element, in: tree, at: start) {
        output.append(separator)
        separator = UInt8(ascii: ",")
        JSONString.quote(text(of: key, in: tree, at: start), to: &output)
        output.append(UInt8(ascii: ":"))
        try appendJSON(of: value, in: tree, at: start, to: &output)
      }
      output.append(contentsOf: separator == UInt8(ascii: "{") ? Array("{}".utf8) : Array("}".utf8))
    case "array":
      var elements: [Int] = []
      tree.forEachElement(of: element) { elements.append($0) }
      output.append(UInt8(ascii: "["))
      for (index, inner) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        try appendJSON(of: inner, in: tree, at: start, to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case "true", "false": output.append(contentsOf: kind.utf8)
    default:
      guard Self.kind(of: kind) != nil else {
        throw Fault(mistake: .notPropertyList, place: tree.nodes[element].name.lowerBound - 1)
      }
      let text = scalar(element, kind, in: tree, at: start)
      if kind == "integer" || kind == "real", isNumber(text) { return output.append(contentsOf: text) }
      JSONString.quote(text, to: &output)
    }
  }
}
