package import Foundation

/// Writes keyed archives object by object, as those of compiled models, and also such as no compiler writes.
///
/// An object is known by its number. The order of numbers is the order in which objects are added.
package final class ArchiveWriter {
  /// A value of an object's field.
  package enum Field {
    /// The object with a number.
    case object(Int)
    case integer(Int)
    case real(Double)
    case bool(Bool)
  }

  /// The property list's objects, encoded.
  private var encoded: [[UInt8]] = []
  /// The places of the archive's objects in the property list.
  private var places: [Int] = []
  private var classes: [String: Int] = [:]
  private var names: [String: Int] = [:]

  /// An archive with only the object that stands for nothing.
  package init() { places.append(put("$null")) }

  /// Adds a text of ASCII characters.
  package func text(_ text: String) -> Int { add(put(text)) }

  /// Adds an array of objects.
  package func array(_ objects: [Int]) -> Int { list("NSArray", ["NS.objects": objects]) }

  /// Adds a dictionary of objects by objects that are texts.
  package func dictionary(_ entries: [(key: Int, value: Int)]) -> Int {
    list("NSDictionary", ["NS.keys": entries.map(\.key), "NS.objects": entries.map(\.value)])
  }

  /// Adds an object of a class.
  package func object(_ className: String, _ fields: [String: Field] = [:]) -> Int {
    object(
      className,
      places: fields.mapValues { field in
        switch field {
        case .object(let number): put(reference: number)
        case .integer(let number): put([0x13] + big(number, 8))
        case .real(let number): put([0x23] + big(Int(bitPattern: UInt(number.bitPattern)), 8))
        case .bool(let flag): put([flag ? 9 : 8])
        }
      })
  }

  /// Adds an object that is the same piece of the archive as another.
  package func again(_ number: Int) -> Int { add(places[number]) }

  /// The archive, with its root object.
  package func data(root: Int) -> Data {
    let top = put(dictionary: ["root": put(reference: root)])
    let all = put(dictionary: [
      "$archiver": put("NSKeyedArchiver"), "$top": top, "$objects": put(list: places),
    ])
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in encoded {
      offsets += big(bytes.count, 4)
      bytes += object
    }
    let table = bytes.count
    bytes += offsets
    return Data(bytes + [0, 0, 0, 0, 0, 0, 4, 4] + big(encoded.count, 8) + big(all, 8) + big(table, 8))
  }

  /// Data as a model cache is compressed, in blocks that are stored as they are.
  package static func deflated(_ data: Data) -> Data {
    var result = Data()
    var rest = data[...]
    repeat {
      let part = rest.prefix(0xFFFF)
      rest = rest.dropFirst(part.count)
      let count = UInt16(part.count)
      result += [rest.isEmpty ? 1 : 0, UInt8(count & 0xFF), UInt8(count >> 8)]
      result += [UInt8(~count & 0xFF), UInt8(~count >> 8)] + part
    } while !rest.isEmpty
    return result
  }

  // MARK: The property list

  private func add(_ place: Int) -> Int {
    places.append(place)
    return places.count - 1
  }

  private func list(_ className: String, _ fields: [String: [Int]]) -> Int {
    object(className, places: fields.mapValues { objects in put(list: objects.map { put(reference: $0) }) })
  }

  private func object(_ className: String, places fields: [String: Int]) -> Int {
    let kind = classes[className] ?? add(put(dictionary: ["$classname": put(className)]))
    classes[className] = kind
    return add(put(dictionary: fields.merging(["$class": put(reference: kind)]) { $1 }))
  }

  private func put(dictionary: [String: Int]) -> Int {
    let entries = dictionary.sorted { $0.key < $1.key }
    let keys = entries.map { entry -> Int in
      let place = names[entry.key] ?? put(entry.key)
      names[entry.key] = place
      return place
    }
    return put(head(0xD0, entries.count) + (keys + entries.map(\.value)).flatMap { big($0, 4) })
  }

  private func put(list places: [Int]) -> Int {
    put(head(0xA0, places.count) + places.flatMap { big($0, 4) })
  }

  private func put(_ text: String) -> Int { put(head(0x50, text.utf8.count) + Array(text.utf8)) }

  private func put(reference number: Int) -> Int { put([0x83] + big(number, 4)) }

  private func put(_ bytes: [UInt8]) -> Int {
    encoded.append(bytes)
    return encoded.count - 1
  }

  private func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
    count < 15 ? [kind | UInt8(count)] : [kind | 0x0F, 0x12] + big(count, 4)
  }

  private func big(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
