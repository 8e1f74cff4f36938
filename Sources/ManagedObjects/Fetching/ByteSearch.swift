/// Searches for bytes in time proportional to the text, whatever the bytes are: both may come from a hostile client.
///
/// Source: Knuth, Morris and Pratt, “Fast pattern matching in strings”, 1977.
struct ByteSearch: Sendable, Hashable {
  /// Bytes to search for that are no more than this are compared at each place.
  private static let fewBytes = 16

  private let part: [UInt8]
  /// How many of the first bytes are also the last of the first 1, 2, … bytes; empty for few bytes.
  private let borders: [Int]

  init(_ part: [UInt8]) {
    self.part = part
    borders =
      part.count <= Self.fewBytes
      ? []
      : part.withUnsafeBufferPointer { part in
        [Int](unsafeUninitializedCapacity: part.count) { borders, count in
          Self.fill(borders, of: part)
          count = part.count
        }
      }
  }

  /// Where the first occurrence from `start` on ends.
  func find(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    part.withUnsafeBufferPointer { part in
      if part.count <= Self.fewBytes { return Self.compareEach(part, in: text, from: start) }
      return borders.withUnsafeBufferPointer { Self.search(part, $0, in: text, from: start) }
    }
  }

  /// Where the first occurrence of `part` ends. To search for the same bytes often, make a search of them.
  static func find(
    _ part: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int? {
    guard text.count - start >= part.count else { return nil }
    if part.count <= fewBytes { return compareEach(part, in: text, from: start) }
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: part.count) { borders in
      fill(borders, of: part)
      return search(part, UnsafeBufferPointer(borders), in: text, from: start)
    }
  }

  private static func compareEach(
    _ part: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int? {
    guard let first = part.first else { return start }
    var place = start
    while place + part.count <= text.count {
      if text[place] == first {
        var length = 1
        while length < part.count, text[place + length] == part[length] { length += 1 }
        if length == part.count { return place + length }
      }
      place += 1
    }
    return nil
  }

  private static func search(
    _ part: UnsafeBufferPointer<UInt8>, _ borders: UnsafeBufferPointer<Int>, in text: UnsafeBufferPointer<UInt8>,
    from start: Int
  ) -> Int? {
    var length = 0
    for place in start..<text.count {
      while length > 0, text[place] != part[length] { length = borders[length - 1] }
      if text[place] == part[length] { length += 1 }
      if length == part.count { return place + 1 }
    }
    return nil
  }

  private static func fill(_ borders: UnsafeMutableBufferPointer<Int>, of part: UnsafeBufferPointer<UInt8>) {
    borders.initialize(repeating: 0)
    var length = 0
    for place in 1..<part.count {
      while length > 0, part[place] != part[length] { length = borders[length - 1] }
      if part[place] == part[length] { length += 1 }
      borders[place] = length
    }
  }
}
