import Foundation

/// Writes numbers in as many bytes as they need: seven bits to a byte, the lowest first.
struct CompactBytes {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  @inline(__always)
  mutating func append(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// A number that may be negative, small if it is near 0.
  @inline(__always)
  mutating func append(signed number: Int64) {
    append(UInt64(bitPattern: (number &<< 1) ^ (number >> 63)))
  }

  mutating func append(fixed number: UInt32) {
    for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  mutating func append(fixed number: UInt64) {
    append(fixed: UInt32(truncatingIfNeeded: number))
    append(fixed: UInt32(truncatingIfNeeded: number >> 32))
  }

  /// Bytes with their number before them.
  mutating func append(counted more: some Collection<UInt8>) {
    append(UInt64(more.count))
    bytes += more
  }
}

/// Reads what ``CompactBytes`` wrote.
struct CompactReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ data: Data) { bytes = Array(data) }

  var isAtEnd: Bool { place >= bytes.count }

  mutating func byte() throws(LineageError) -> UInt8 {
    guard place < bytes.count else { throw .damaged }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func number() throws(LineageError) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      guard shift < 64 else { throw .damaged }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }

  mutating func signed() throws(LineageError) -> Int64 {
    let number = try number()
    return Int64(bitPattern: (number >> 1) ^ (0 &- (number & 1)))
  }

  mutating func count() throws(LineageError) -> Int {
    let number = try number()
    guard number <= UInt64(bytes.count - place) else { throw .damaged }
    return Int(number)
  }

  mutating func fixed32() throws(LineageError) -> UInt32 {
    var number: UInt32 = 0
    for shift: UInt32 in [0, 8, 16, 24] { number |= UInt32(try byte()) << shift }
    return number
  }

  mutating func fixed64() throws(LineageError) -> UInt64 {
    let low = UInt64(try fixed32())
    return low | UInt64(try fixed32()) << 32
  }

  mutating func counted() throws(LineageError) -> ArraySlice<UInt8> {
    let count = try count()
    defer { place += count }
    return bytes[place..<place + count]
  }

  mutating func text() throws(LineageError) -> String { String(decoding: try counted(), as: UTF8.self) }
}

/// Why what was recorded of a job can't be used.
package enum LineageError: Error, Hashable, CustomStringConvertible {
  /// What the store keeps isn't as it was written.
  case damaged
  /// The job's changes are being taken back by another job.
  case undoUnderWay(by: Int64)
  /// The job hasn't ended.
  case jobUnderWay

  package var description: String {
    switch self {
    case .damaged:
      "what the store keeps of the job's changes is damaged: restore a backup, or look for more by 'ladectl store check'"
    case .undoUnderWay(let job):
      "job \(job) is taking back what this job has done: wait until it has ended, or cancel it"
    case .jobUnderWay: "the job hasn't ended: wait until it has, or cancel it first"
    }
  }
}
