/// Random access to a file's bytes, with some blocks cached; a packed file is held in memory as a whole.
final class RandomBytes {
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
