// A binary property list as a file: a header, objects, a table of their offsets, and a trailer with the table's
// offset. Hostile input is expected: every number is checked before use, and nothing outside of the file is read.
// Source: CFBinaryPList.c of CoreFoundation, whose first comment describes the format.

import Foundation
import ManagedObjects

/// Objects of a binary property list, looked up by number.
final class BinaryPropertyListFile {
  /// An object whose content isn't read yet.
  enum Object {
    case no, yes
    /// A number or date, as XML has it.
    case integer(String), real(String), date(String)
    case data(at: Int64, count: Int64)
    case ascii(at: Int64, count: Int64)
    /// A text in units of two bytes.
    case utf16(at: Int64, count: Int64)
    /// The numbers of elements, from a place on.
    case array(at: Int64, count: Int64)
    /// The numbers of keys, and then of as many values.
    case dictionary(at: Int64, count: Int64)
  }

  static let signature = Array("bplist0".utf8)
  private static let header: Int64 = 8
  private static let trailer: Int64 = 32
  private static let maximumObjects: UInt64 = 1 << 32

  /// The number of the top object.
  let top: UInt64
  let size: Int64
  private let bytes: RandomAccessBytes
  private let objects: UInt64
  private let offsetSize: Int
  private let numberSize: Int
  private let table: Int64

  init(_ bytes: RandomAccessBytes) throws(ReaderError) {
    self.bytes = bytes
    size = bytes.size
    func damaged(_ reason: String) -> ReaderError { Self.damaged(bytes.size - Self.trailer, reason) }
    guard size > Self.header + Self.trailer else {
      throw .source(.truncated(what: "property list", offset: size))
    }
    let end = size - Self.trailer
    guard try bytes.number(at: 7, count: 1) == UInt64(UInt8(ascii: "0")) else {
      throw Self.damaged(7, "it is of a version that isn't known")
    }
    offsetSize = Int(try bytes.number(at: end + 6, count: 1))
    numberSize = Int(try bytes.number(at: end + 7, count: 1))
    objects = try bytes.number(at: end + 8, count: 8)
    top = try bytes.number(at: end + 16, count: 8)
    let table = try bytes.number(at: end + 24, count: 8)
    guard (1...8).contains(offsetSize), (1...8).contains(numberSize) else {
      throw damaged("its numbers have no size that they could have")
    }
    guard objects > 0, objects <= Self.maximumObjects, top < objects else {
      throw damaged("it says that it has \(objects) objects, and that number \(top) is the first")
    }
    guard table > UInt64(Self.header), table <= UInt64(end),
      objects * UInt64(offsetSize) <= UInt64(end) - table
    else { throw damaged("the table of its objects isn't in the file") }
    self.table = Int64(table)
  }

  /// The number of an object that another refers to at a place.
  func reference(_ index: Int64, from place: Int64) throws(ReaderError) -> UInt64 {
    let at = place + index * Int64(numberSize)
    let number = try bytes.number(at: at, count: numberSize)
    guard number < objects else { throw Self.damaged(at, "there is no object \(number)") }
    return number
  }

  /// The kind of an object.
  func object(_ number: UInt64) throws(ReaderError) -> Object {
    let entry = table + Int64(number) * Int64(offsetSize)
    let offset = try bytes.number(at: entry, count: offsetSize)
    guard offset >= UInt64(Self.header), offset < UInt64(table) else {
      throw Self.damaged(entry, "object \(number) isn't where objects are")
    }
    let place = Int64(offset)
    let marker = UInt8(truncatingIfNeeded: try bytes.number(at: place, count: 1))
    let low = marker & 0x0F
    switch marker >> 4 {
    case 0 where low == 8: return .no
    case 0 where low == 9: return .yes
    case 1: return .integer(try integer(at: place + 1, power: low))
    case 2 where low == 2 || low == 3:
      let number = try real(at: place + 1, power: low)
      guard low == 2 else { return .real(number.description) }
      return .real(Float(number).description)
    case 3 where low == 3: return .date(try date(at: place + 1))
    case 4:
      let (start, count) = try counted(place, low, unit: 1)
      return .data(at: start, count: count)
    case 5:
      let (start, count) = try counted(place, low, unit: 1)
      return .ascii(at: start, count: count)
    case 6:
      let (start, count) = try counted(place, low, unit: 2)
      return .utf16(at: start, count: count)
    case 8: throw Self.damaged(place, "it has a UID, as archives of objects do, which isn't a value")
    case 10:
      let (start, count) = try counted(place, low, unit: numberSize)
      return .array(at: start, count: count)
    case 13:
      let (start, count) = try counted(place, low, unit: 2 * numberSize)
      return .dictionary(at: start, count: count)
    default: throw Self.damaged(place, "an object is of a kind that property lists don't have")
    }
  }

  /// The bytes of a string or data; `object` has checked that they are in the file.
  func number(at place: Int64, count: Int) throws(ReaderError) -> UInt64 { try bytes.number(at: place, count: count) }

  /// Where keys end and values begin.
  func values(ofKeysAt place: Int64, count: Int64) -> Int64 { place + count * Int64(numberSize) }

  static func damaged(_ offset: Int64, _ reason: String) -> ReaderError {
    .source(.corrupt(what: "property list", offset: offset, reason: reason))
  }

  /// Where an object's content begins, and its number of units, which is in the marker or in an integer after it.
  private func counted(_ place: Int64, _ low: UInt8, unit: Int) throws(ReaderError) -> (start: Int64, count: Int64) {
    var start = place + 1
    var count = UInt64(low)
    if low == 0x0F {
      let marker = UInt8(truncatingIfNeeded: try bytes.number(at: start, count: 1))
      guard marker >> 4 == 1, marker & 0x0F <= 3 else { throw Self.damaged(start, "a length isn't an integer") }
      let size = 1 << Int(marker & 0x0F)
      count = try bytes.number(at: start + 1, count: size)
      start += 1 + Int64(size)
    }
    guard start <= table, count <= UInt64(table - start) / UInt64(unit) else {
      throw Self.damaged(place, "an object is longer than the file")
    }
    return (start, Int64(count))
  }

  /// Integers of up to four bytes are unsigned, those of eight are signed; sixteen hold unsigned ones of 64 bits.
  private func integer(at place: Int64, power: UInt8) throws(ReaderError) -> String {
    guard power <= 4 else { throw Self.damaged(place - 1, "an integer has more than 128 bits") }
    guard power == 4 else {
      let number = try bytes.number(at: place, count: 1 << Int(power))
      return power == 3 ? Int64(bitPattern: number).description : number.description
    }
    let high = try bytes.number(at: place, count: 8)
    let low = try bytes.number(at: place + 8, count: 8)
    if high == 0 { return low.description }
    if high == .max, low >> 63 == 1 { return Int64(bitPattern: low).description }
    throw Self.damaged(place - 1, "an integer has more than 64 bits")
  }

  private func real(at place: Int64, power: UInt8) throws(ReaderError) -> Double {
    let bits = try bytes.number(at: place, count: power == 2 ? 4 : 8)
    return power == 2 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
  }

  /// Seconds since 2001, in a year that has four digits.
  private func date(at place: Int64) throws(ReaderError) -> String {
    let seconds = try real(at: place, power: 3) + 978_307_200
    guard let text = ISODate.text(of: Date(timeIntervalSince1970: seconds)) else {
      throw Self.damaged(place - 1, "a date is in no year from 0 to 9999")
    }
    return text.replacing(" ", with: "T") + "Z"
  }
}

/// Random access to a file's bytes, with some blocks cached; a packed file is held in memory as a whole.
final class RandomAccessBytes {
  let size: Int64
  private let file: PlainSource?
  private var blocks: [Int64: [UInt8]] = [:]
  /// The cached blocks, oldest first.
  private var order: [Int64] = []
  private var whole: [UInt8] = []
  private var last: (number: Int64, bytes: [UInt8]) = (-1, [])

  private static let blockSize: Int64 = 16 << 10
  private static let maximumBlocks = 128
  /// A packed file has no random access: it is held in memory, up to this size.
  static let maximumWhole = 64 << 20

  /// - Throws: when the source is packed and longer than may be kept.
  init(_ source: any ByteSource) throws(ReaderError) {
    if let plain = source as? PlainSource {
      file = plain
      size = plain.size
      return
    }
    file = nil
    while true {
      let piece = try source.readSample(1 << 20)
      if piece.isEmpty { break }
      guard whole.count + piece.count <= Self.maximumWhole else {
        throw .source(.unpacksTooFar(limit: Int64(Self.maximumWhole)))
      }
      whole += piece
    }
    size = Int64(whole.count)
  }

  /// A big-endian number of up to eight bytes.
  func number(at place: Int64, count: Int) throws(ReaderError) -> UInt64 {
    guard place >= 0, place <= size - Int64(count) else {
      throw .source(.truncated(what: "property list", offset: size))
    }
    var number: UInt64 = 0
    for index in place..<place + Int64(count) { number = number << 8 | UInt64(try byte(at: index)) }
    return number
  }

  private func byte(at place: Int64) throws(ReaderError) -> UInt8 {
    guard let file else { return whole[Int(place)] }
    let number = place / Self.blockSize
    let index = Int(place % Self.blockSize)
    if last.number != number { last = (number, try block(number, of: file)) }
    // The file has become shorter since it was opened.
    guard index < last.bytes.count else { throw .source(.truncated(what: "property list", offset: place)) }
    return last.bytes[index]
  }

  private func block(_ number: Int64, of file: PlainSource) throws(ReaderError) -> [UInt8] {
    if let known = blocks[number] { return known }
    guard file.seek(to: number * Self.blockSize) else { return [] }
    let bytes = try file.readSample(Int(Self.blockSize))
    if order.count >= Self.maximumBlocks { blocks[order.removeFirst()] = nil }
    order.append(number)
    blocks[number] = bytes
    return bytes
  }
}
