// A binary property list, as compiled models and keyed archives are written: a header, objects, a table of their offsets,
// and a trailer. Hostile input is expected:
//
// 1. every number is checked before it is used, and nothing outside of the bytes is read;
// 2. an object is read when it is asked for, one level deep, so nesting needs no stack;
// 3. what is read counts against a limit that grows with the file, since objects may be referred to many times, and may lie
//    over each other: each object counts for the memory that it takes once it is read.
//
// Foundation's reader isn't used, because it doesn't tell UIDs from other values.
//
// Source: CFBinaryPList.c of CoreFoundation, whose first comment describes the format.

import Foundation

/// Why an archive can't be read.
struct ArchiveDamage: Error, Hashable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Objects of a binary property list, by number. Belongs to one thread.
final class BinaryPropertyList {
  /// One object; those in it are numbers.
  enum Object {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001.
    case date(Double)
    case data(Data)
    case string(String)
    /// A reference between the objects of a keyed archive.
    case uid(Int)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }

  static let signature = Data("bplist0".utf8)
  private static let header = 8
  private static let trailer = 32
  /// What an object counts for beside its bytes, and each number in it.
  private static let weight = 16
  /// The numbers that one array or dictionary may have: many more than a model has objects.
  private static let elementLimit = 1 << 20

  /// The number of the top object.
  let top: Int
  private let bytes: [UInt8]
  private let objectCount: Int
  private let offsetSize: Int
  private let numberSize: Int
  private let table: Int
  /// What may still be read. The files of Core Data use a quarter of it.
  private var allowance: Int

  init(_ data: Data) throws(ArchiveDamage) {
    let bytes = Array(data)
    self.bytes = bytes
    allowance = (4 << 20) + 16 * bytes.count
    guard bytes.starts(with: Self.signature) else { throw ArchiveDamage("it isn't a binary property list") }
    guard bytes.count > Self.header + Self.trailer else { throw ArchiveDamage("it ends too early") }
    let end = bytes.count - Self.trailer
    func number(_ place: Int, _ size: Int) -> UInt64 {
      bytes[place..<place + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
    offsetSize = Int(bytes[end + 6])
    numberSize = Int(bytes[end + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(numberSize) else {
      throw ArchiveDamage("its numbers have no size that they could have")
    }
    let (objects, first, table) = (number(end + 8, 8), number(end + 16, 8), number(end + 24, 8))
    guard table >= UInt64(Self.header), table <= UInt64(end), objects > 0,
      objects <= (UInt64(end) - table) / UInt64(offsetSize), first < objects
    else { throw ArchiveDamage("the table of its objects isn't in it") }
    (objectCount, top, self.table) = (Int(objects), Int(first), Int(table))
  }

  /// The object with a number.
  func object(_ number: Int) throws(ArchiveDamage) -> Object {
    guard number >= 0, number < objectCount else { throw ArchiveDamage("there is no object \(number)") }
    let offset = try unsigned(at: table + number * offsetSize, size: offsetSize)
    guard offset >= UInt64(Self.header), offset < UInt64(table) else {
      throw ArchiveDamage("object \(number) isn't where objects are")
    }
    let place = Int(offset)
    let low = Int(bytes[place] & 0x0F)
    switch bytes[place] >> 4 {
    case 0 where low == 0: return .null
    case 0 where low == 8: return .bool(false)
    case 0 where low == 9: return .bool(true)
    case 1: return .integer(try integer(at: place + 1, power: low))
    case 2 where low == 2: return .real(Double(Float(bitPattern: UInt32(try unsigned(at: place + 1, size: 4)))))
    case 2 where low == 3: return .real(Double(bitPattern: try unsigned(at: place + 1, size: 8)))
    case 3 where low == 3: return .date(Double(bitPattern: try unsigned(at: place + 1, size: 8)))
    case 4: return .data(Data(bytes[try content(at: place, low, unit: 1)]))
    case 5: return .string(String(decoding: bytes[try content(at: place, low, unit: 1)], as: UTF8.self))
    case 6: return .string(utf16(bytes[try content(at: place, low, unit: 2)]))
    case 8:
      guard let uid = Int(exactly: try unsigned(at: place + 1, size: min(low + 1, 8))), low < 8 else {
        throw ArchiveDamage("a reference is too long")
      }
      return .uid(uid)
    case 10, 11, 12: return .array(try numbers(in: content(at: place, low, unit: numberSize)))
    case 13:
      // In a table of keys an entry takes more than its two numbers.
      let inner = try content(at: place, low, unit: 2 * numberSize)
      try spend(Self.weight * inner.count / numberSize)
      let all = try numbers(in: inner)
      return .dictionary(keys: Array(all.prefix(all.count / 2)), values: Array(all.suffix(all.count / 2)))
    default: throw ArchiveDamage("object \(number) is of a kind that property lists don't have")
    }
  }

  /// Where an object's content is. The number of units is in the marker, or in an integer after it.
  private func content(at place: Int, _ low: Int, unit: Int) throws(ArchiveDamage) -> Range<Int> {
    var start = place + 1
    var units = UInt64(low)
    if low == 0x0F {
      guard start < table, bytes[start] >> 4 == 1, bytes[start] & 0x0F <= 3 else {
        throw ArchiveDamage("a length isn't a number")
      }
      let size = 1 << Int(bytes[start] & 0x0F)
      units = try unsigned(at: start + 1, size: size)
      start += 1 + size
    }
    guard start <= table, units <= UInt64((table - start) / unit) else {
      throw ArchiveDamage("an object is longer than the file")
    }
    let length = Int(units) * unit
    try spend(length + Self.weight)
    return start..<start + length
  }

  private func spend(_ weight: Int) throws(ArchiveDamage) {
    allowance -= weight
    guard allowance >= 0 else {
      throw ArchiveDamage("its objects refer to each other more often than those of a model")
    }
  }

  private func numbers(in place: Range<Int>) throws(ArchiveDamage) -> [Int] {
    let size = place.count / numberSize
    guard size <= Self.elementLimit else { throw ArchiveDamage("a list in it is longer than those of models") }
    try spend(Self.weight * size)
    var numbers: [Int] = []
    numbers.reserveCapacity(size)
    for start in stride(from: place.lowerBound, to: place.upperBound, by: numberSize) {
      let number = try unsigned(at: start, size: numberSize)
      guard number < UInt64(objectCount) else { throw ArchiveDamage("there is no object \(number)") }
      numbers.append(Int(number))
    }
    return numbers
  }

  private func utf16(_ bytes: ArraySlice<UInt8>) -> String {
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// Integers of up to four bytes are unsigned, those of eight are signed; of sixteen the lower half counts.
  private func integer(at place: Int, power: Int) throws(ArchiveDamage) -> Int64 {
    switch power {
    case 0...3: return Int64(bitPattern: try unsigned(at: place, size: 1 << power))
    case 4: return Int64(bitPattern: try unsigned(at: place + 8, size: 8))
    default: throw ArchiveDamage("an integer has more than 128 bits")
    }
  }

  private func unsigned(at place: Int, size: Int) throws(ArchiveDamage) -> UInt64 {
    guard place + size <= bytes.count - Self.trailer else { throw ArchiveDamage("it ends too early") }
    return bytes[place..<place + size].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
