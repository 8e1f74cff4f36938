import Foundation

/// Decompresses DEFLATE without a header (RFC 1951), as model caches are stored.
///
/// The section of the RFC stands beside the step. Input is untrusted: every code and distance is checked, and the output has
/// a limit.
struct Inflate {
  private let input: [UInt8]
  private let limit: Int
  private var place = 0
  private var bits: UInt32 = 0
  private var bitCount = 0
  private var output: [UInt8] = []

  /// - Throws: ``ArchiveDamage`` for data that isn't DEFLATE, or that has more than `limit` bytes.
  static func decompress(_ data: Data, limit: Int) throws(ArchiveDamage) -> Data {
    var inflate = Inflate(input: Array(data), limit: limit)
    try inflate.run()
    return Data(inflate.output)
  }

  private init(input: [UInt8], limit: Int) { (self.input, self.limit) = (input, limit) }

  /// 3.2.3: blocks until the last one.
  private mutating func run() throws(ArchiveDamage) {
    var isLast = false
    while !isLast {
      isLast = try take(1) == 1
      switch try take(2) {
      case 0: try copyStored()
      case 1: try decode(Self.fixedLiterals, Self.fixedDistances)
      case 2: try decodeDynamic()
      default: throw Self.damage
      }
    }
  }

  private static let damage = ArchiveDamage("it isn't compressed as a model cache is, or is damaged")

  /// 3.2.4
  private mutating func copyStored() throws(ArchiveDamage) {
    (bits, bitCount) = (0, 0)
    guard place + 4 <= input.count else { throw Self.damage }
    let length = Int(input[place]) | Int(input[place + 1]) << 8
    let check = Int(input[place + 2]) | Int(input[place + 3]) << 8
    place += 4
    guard length == ~check & 0xFFFF, place + length <= input.count else { throw Self.damage }
    try reserve(length)
    output += input[place..<place + length]
    place += length
  }

  /// 3.2.7
  private mutating func decodeDynamic() throws(ArchiveDamage) {
    let literals = try take(5) + 257
    let distances = try take(5) + 1
    let codes = try take(4) + 4
    var lengths = [UInt8](repeating: 0, count: 19)
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    for index in 0..<codes { lengths[order[index]] = UInt8(try take(3)) }
    let code = try HuffmanCode(lengths)
    lengths = []
    while lengths.count < literals + distances {
      let symbol = try symbol(code)
      switch symbol {
      case 0...15: lengths.append(UInt8(symbol))
      case 16:
        guard let last = lengths.last else { throw Self.damage }
        lengths += [UInt8](repeating: last, count: try take(2) + 3)
      case 17: lengths += [UInt8](repeating: 0, count: try take(3) + 3)
      default: lengths += [UInt8](repeating: 0, count: try take(7) + 11)
      }
    }
    guard lengths.count == literals + distances else { throw Self.damage }
    try decode(HuffmanCode(Array(lengths[..<literals])), HuffmanCode(Array(lengths[literals...])))
  }

  private static let fixedLiterals = HuffmanCode(
    fixed: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  private static let fixedDistances = HuffmanCode(fixed: [UInt8](repeating: 5, count: 30))
  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577,
  ]
  private static let distanceBits = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
  ]

  /// 3.2.5
  private mutating func decode(_ literals: HuffmanCode, _ distances: HuffmanCode) throws(ArchiveDamage) {
    while true {
      let symbol = try symbol(literals)
      if symbol < 256 {
        try reserve(1)
        output.append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      guard symbol - 257 < Self.lengthBases.count else { throw Self.damage }
      let length = Self.lengthBases[symbol - 257] + (try take(Self.lengthBits[symbol - 257]))
      let code = try self.symbol(distances)
      guard code < Self.distanceBases.count else { throw Self.damage }
      let distance = Self.distanceBases[code] + (try take(Self.distanceBits[code]))
      guard distance <= output.count else { throw Self.damage }
      try reserve(length)
      // Byte by byte: the copy may overlap what it writes.
      for _ in 0..<length { output.append(output[output.count - distance]) }
    }
  }

  private func reserve(_ count: Int) throws(ArchiveDamage) {
    guard output.count + count <= limit else { throw ArchiveDamage("it is larger than \(limit >> 20) MiB, unpacked") }
  }

  private mutating func take(_ count: Int) throws(ArchiveDamage) -> Int {
    while bitCount < count {
      guard place < input.count else { throw Self.damage }
      bits |= UInt32(input[place]) << UInt32(bitCount)
      place += 1
      bitCount += 8
    }
    let value = bits & ((1 << UInt32(count)) - 1)
    bits >>= UInt32(count)
    bitCount -= count
    return Int(value)
  }

  /// 3.2.2: the code's bits come from the highest on.
  private mutating func symbol(_ code: HuffmanCode) throws(ArchiveDamage) -> Int {
    var (value, first, index) = (0, 0, 0)
    for length in 1...15 {
      value |= try take(1)
      let count = code.counts[length]
      if value - count < first { return code.symbols[index + value - first] }
      index += count
      first = (first + count) << 1
      value <<= 1
    }
    throw Self.damage
  }

  /// A canonical Huffman code (3.2.2).
  private struct HuffmanCode {
    /// How many codes there are of each length.
    private(set) var counts = [Int](repeating: 0, count: 16)
    /// The symbols, in the order of their codes.
    private(set) var symbols: [Int] = []

    /// - Throws: where there are more codes than bits allow.
    init(_ lengths: [UInt8]) throws(ArchiveDamage) {
      self.init(fixed: lengths)
      var left = 1
      for length in 1...15 {
        left = left << 1 - counts[length]
        guard left >= 0 else { throw Inflate.damage }
      }
    }

    init(fixed lengths: [UInt8]) {
      for length in lengths where length > 0 { counts[Int(length)] += 1 }
      for length in 1...15 {
        for (symbol, own) in lengths.enumerated() where Int(own) == length { symbols.append(symbol) }
      }
    }
  }
}
