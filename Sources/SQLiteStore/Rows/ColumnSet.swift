/// A set of a layout's columns, by their indexes.
struct ColumnSet: Hashable, Sequence {
  /// The first 64 indexes, and the others.
  private var bits: UInt64 = 0
  private var rest: Set<Int> = []

  var isEmpty: Bool { bits == 0 && rest.isEmpty }

  mutating func insert(_ place: Int) {
    if place < 64 { bits |= 1 << UInt64(place) } else { rest.insert(place) }
  }

  /// Calls the closure with each index, in ascending order.
  struct Iterator: IteratorProtocol {
    fileprivate var bits: UInt64
    fileprivate var rest: ArraySlice<Int>

    mutating func next() -> Int? {
      guard bits != 0 else { return rest.popFirst() }
      let place = bits.trailingZeroBitCount
      bits &= bits - 1
      return place
    }
  }

  func makeIterator() -> Iterator { Iterator(bits: bits, rest: rest.isEmpty ? [] : rest.sorted()[...]) }
}
