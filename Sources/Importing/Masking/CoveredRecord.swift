import Foundation

/// A rejected record whose masked values are masked in the reject file, too, and which is written there from its cells: what
/// nothing takes is covered, and what the reader didn't understand isn't there.
struct CoveredRecord {
  /// A value of the record.
  struct Field {
    let column: Int
    let name: String
    let kind: Cell.Kind
    let text: [UInt8]
    /// Whether the reject file may not have it as it was.
    let isMasked: Bool
  }

  private let batch: RecordBatch
  private let record: Int
  /// Those that the record has, in the order of the columns.
  let values: [Field]

  init(_ record: Int, of batch: RecordBatch, _ masking: RecordMasking) {
    self.record = record
    self.batch = batch
    var values: [Field] = []
    for (column, name) in batch.columns.enumerated() {
      let cell = batch.cell(record, column)
      if cell.kind == .missing { continue }
      // The reason of an earlier import is written again.
      if RejectReason.isAdded(name) {
        values.append(Field(column: column, name: name, kind: .empty, text: [], isMasked: false))
        continue
      }
      let (kind, text) = masking.covered(cell, in: column, of: batch)
      values.append(
        Field(column: column, name: name, kind: kind, text: text, isMasked: masking.covers(column)))
    }
    self.values = values
  }

  /// Without what a reject file adds.
  var ownValues: [Field] { values.filter { !RejectReason.isAdded($0.name) } }

  /// The bytes in the source of a record that nothing is left of but the reason why it was rejected before.
  var reasonAlone: [UInt8]? { ownValues.isEmpty ? batch.rawBytes(record) : nil }

  /// The record in the source, for its outer form alone.
  func withSource<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { batch.withRawBytes(of: record, body) }

  /// The record as a JSON object, without a column.
  func json(without column: Int? = nil) -> [UInt8] {
    var json = Array("{".utf8)
    for value in ownValues where value.column != column {
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      JSONString.quote(value.name.utf8, to: &json)
      json.append(UInt8(ascii: ":"))
      switch value.kind {
      case .text, .date, .fault: JSONString.quote(value.text, to: &json)
      case .number, .nested, .quantity: json += value.text
      case .yes: json += Array("true".utf8)
      case .no: json += Array("false".utf8)
      case .null, .empty, .missing: json += Array("null".utf8)
      }
    }
    return json + [UInt8(ascii: "}")]
  }
}

extension RejectForm {
  /// A record in this form, with its masks; nil if it can't be written so that it is one when it is read again. Unless a
  /// form says otherwise, a JSON object.
  func covered(_ record: CoveredRecord) -> [UInt8]? { record.reasonAlone ?? record.json() }
}

extension JSONRejects {
  func covered(_ record: CoveredRecord) -> [UInt8]? {
    if let reason = record.reasonAlone { return reason }
    guard areMembers else { return record.json() }
    guard let key = record.values.first(where: { $0.column == keyColumn }) else { return nil }
    var member: [UInt8] = []
    JSONString.quote(key.text, to: &member)
    return member + [UInt8(ascii: ":")] + record.json(without: keyColumn)
  }
}

extension TabularRejects {
  func covered(_ record: CoveredRecord) -> [UInt8]? { line(of: record.values.map { ($0.kind, $0.text) }) }
}

extension FixedWidthRejects {
  /// The line, if every mask has room in its column.
  func covered(_ record: CoveredRecord) -> [UInt8]? {
    let isByBytes = layout.unit == .bytes
    let space = Unicode.Scalar(0x20 as UInt8)
    var line: [Unicode.Scalar] = []
    var bytes: [UInt8] = []
    // Masks last: another column may lie over the same places.
    for value in record.values.sorted(by: { !$0.isMasked && $1.isMasked }) {
      guard places.indices.contains(value.column) else { return nil }
      let place = places[value.column]
      let scalars = Array(String(decoding: value.text, as: UTF8.self).unicodeScalars)
      let width = isByBytes ? value.text.count : scalars.count
      guard width <= place.count else { return nil }
      if isByBytes {
        bytes += [UInt8](repeating: 0x20, count: max(0, place.upperBound - bytes.count))
        bytes.replaceSubrange(place, with: value.text + [UInt8](repeating: 0x20, count: place.count - width))
      } else {
        line += [Unicode.Scalar](repeating: space, count: max(0, place.upperBound - line.count))
        line.replaceSubrange(place, with: scalars + [Unicode.Scalar](repeating: space, count: place.count - width))
      }
    }
    return isByBytes ? bytes : line.flatMap { Array(String(Character($0)).utf8) }
  }
}

extension PropertyListRejects {
  func covered(_ record: CoveredRecord) -> [UInt8]? {
    if let reason = record.reasonAlone { return reason }
    var text = "<dict>"
    for value in record.ownValues {
      let element: String? =
        switch value.kind {
        case .text, .date, .fault: Self.element(.text(String(decoding: value.text, as: UTF8.self)))
        case .number, .quantity: Self.element(.number(String(decoding: value.text, as: UTF8.self)))
        case .yes: Self.element(.yes)
        case .no: Self.element(.no)
        case .nested: value.text.withUnsafeBytes { NestedValue(json: $0) }.flatMap { Self.element($0) }
        case .missing, .null, .empty: nil
        }
      if let element { text += "<key>\(XMLText.escaped(value.name))</key>\(element)" }
    }
    return Array((text + "</dict>").utf8)
  }

  /// A value as an element; nil for null, which property lists don't have.
  private static func element(_ value: NestedValue) -> String? {
    switch value {
    case .null: return nil
    case .yes: return "<true/>"
    case .no: return "<false/>"
    case .number(let text):
      return text.contains(where: { ".eE".contains($0) }) ? "<real>\(text)</real>" : "<integer>\(text)</integer>"
    case .text(let text): return "<string>\(XMLText.escaped(text))</string>"
    case .array(let elements): return "<array>\(elements.compactMap { element($0) }.joined())</array>"
    case .object(let members):
      let inner = members.sorted { $0.key < $1.key }.compactMap { key, value in
        element(value).map { "<key>\(XMLText.escaped(key))</key>\($0)" }
      }
      return "<dict>\(inner.joined())</dict>"
    }
  }
}

extension XMLRejects {
  func covered(_ record: CoveredRecord) -> [UInt8]? {
    let name = record.withSource { bytes in
      String(
        decoding: bytes.dropFirst().prefix {
          !JSONToken.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
        },
        as: UTF8.self)
    }
    guard !name.isEmpty else { return nil }
    let element = CoveredElement(name)
    for value in record.ownValues { element.add(value) }
    return Array(element.text.utf8)
  }
}

/// An element that is written from the columns of a record, whose names are the paths of its parts: `@id`, `at.city`, `#text`.
private final class CoveredElement {
  private let name: String
  private var attributes: [(name: String, text: String)] = []
  private var content: String?
  private var isNil = false
  private var elements: [CoveredElement] = []

  init(_ name: String) { self.name = name }

  /// Adds a column of the record.
  func add(_ value: CoveredRecord.Field) {
    let path = value.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let text = String(decoding: value.text, as: UTF8.self)
    let place = path.dropLast().reduce(self) { $0.element($1) }
    guard let last = path.last else { return }
    if last == "#text" {
      place.content = text
    } else if last.hasPrefix("@") {
      place.attributes.append((String(last.dropFirst()), text))
    } else if value.kind == .nested {
      place.add(value.text.withUnsafeBytes { NestedValue(json: $0) } ?? .null, last)
    } else {
      let element = place.element(last)
      if value.kind == .null { element.isNil = true } else if value.kind != .empty { element.content = text }
    }
  }

  /// The element of a name, which is made if there is none.
  private func element(_ name: String) -> CoveredElement {
    if let known = elements.first(where: { $0.name == name }) { return known }
    let element = CoveredElement(name)
    elements.append(element)
    return element
  }

  /// Adds what the reader made of elements of a name.
  private func add(_ value: NestedValue, _ name: String) {
    if case .array(let values) = value {
      for value in values { add(value, name) }
      return
    }
    let element = CoveredElement(name)
    elements.append(element)
    switch value {
    case .null: element.isNil = true
    case .yes: element.content = "true"
    case .no: element.content = "false"
    case .number(let text), .text(let text): element.content = text
    case .array: break
    case .object(let members):
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        if case .text(let text) = value, key == "#text" {
          element.content = text
        } else if case .text(let text) = value, key.hasPrefix("@") {
          element.attributes.append((String(key.dropFirst()), text))
        } else {
          element.add(value, key)
        }
      }
    }
  }

  var text: String {
    var attributes = attributes
    if isNil { attributes.append(("xsi:nil", "true")) }
    let begin =
      name + attributes.map { " \($0.name)=\"\(XMLText.escaped($0.text, inLine: true))\"" }.joined()
    let inner = (content.map { XMLText.escaped($0) } ?? "") + elements.map(\.text).joined()
    return inner.isEmpty ? "<\(begin)/>" : "<\(begin)>\(inner)</\(name)>"
  }
}
