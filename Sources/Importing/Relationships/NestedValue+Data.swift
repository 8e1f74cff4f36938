import Foundation

extension NestedValue {
  /// The value as JSON, in which equal values are equal bytes: without spaces, keys in alphabetical order. A transformable
  /// attribute of a Codable type holds it.
  var data: Data {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return Data(bytes)
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += Array("null".utf8)
    case .yes: bytes += Array("true".utf8)
    case .no: bytes += Array("false".utf8)
    case .number(let text): bytes += Array(text.utf8)
    case .text(let text): XMLTree.quote(Array(text.utf8), to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (place, element) in elements.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        element.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let values):
      bytes.append(UInt8(ascii: "{"))
      for (place, (key, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        XMLTree.quote(Array(key.utf8), to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}
