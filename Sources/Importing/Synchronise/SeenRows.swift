import Foundation

/// Which of 8,192 rows with consecutive numbers the source was about.
///
/// As data it is at most 1 KiB: a list of places of 2 bytes each as long as there are few, as with keys from a wide range,
/// and a bit for each row when there are more.
struct SeenRows: Equatable {
  /// Rows in a chunk.
  static let size = 8192
  private static let bytes = size / 8
  private var bits = [UInt64](repeating: 0, count: size / 64)

  /// The number of a row's chunk.
  static func chunk(of number: Int64) -> Int64 { number >> 13 }

  init() {}

  /// Reads what was kept in a store.
  init(_ data: Data) {
    if data.count == Self.bytes {
      for (place, byte) in data.enumerated() { bits[place >> 3] |= UInt64(byte) << UInt64((place & 7) * 8) }
    } else {
      let list = [UInt8](data)
      for start in stride(from: 0, to: list.count - 1, by: 2) {
        set(Int(list[start]) | Int(list[start + 1]) << 8)
      }
    }
  }

  /// The form that is kept in a store.
  var data: Data {
    let count = bits.reduce(0) { $0 + $1.nonzeroBitCount }
    var data = Data(capacity: Self.bytes)
    if count * 2 < Self.bytes {
      for (place, word) in bits.enumerated() {
        var rest = word
        while rest != 0 {
          let row = place * 64 + rest.trailingZeroBitCount
          data.append(UInt8(truncatingIfNeeded: row))
          data.append(UInt8(truncatingIfNeeded: row >> 8))
          rest &= rest - 1
        }
      }
    } else {
      for word in bits { for shift in 0..<8 { data.append(UInt8(truncatingIfNeeded: word >> UInt64(shift * 8))) } }
    }
    return data
  }

  /// Marks a row of the chunk, by its number.
  mutating func insert(_ number: Int64) { set(Int(number & Int64(Self.size - 1))) }

  /// The rows of both.
  func union(_ other: SeenRows) -> SeenRows {
    var both = self
    for place in bits.indices { both.bits[place] |= other.bits[place] }
    return both
  }

  /// The rows that both have.
  func intersection(_ other: SeenRows) -> SeenRows {
    var common = self
    for place in bits.indices { common.bits[place] &= other.bits[place] }
    return common
  }

  /// The rows that the other doesn't have.
  func subtracting(_ other: SeenRows) -> SeenRows {
    var rest = self
    for place in bits.indices { rest.bits[place] &= ~other.bits[place] }
    return rest
  }

  /// The numbers of the marked rows of a chunk.
  func numbers(in chunk: Int64) -> [Int64] {
    (0..<Self.size).filter { bits[$0 >> 6] & (1 << UInt64($0 & 63)) != 0 }.map { chunk << 13 | Int64($0) }
  }

  /// Whether a row of the chunk is marked.
  func contains(_ number: Int64) -> Bool {
    let place = Int(number & Int64(Self.size - 1))
    return bits[place >> 6] & (1 << UInt64(place & 63)) != 0
  }

  private mutating func set(_ place: Int) { bits[place >> 6 & 127] |= 1 << UInt64(place & 63) }
}
