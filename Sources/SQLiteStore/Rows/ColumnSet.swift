/// Some of a layout's columns, by their places.
struct ColumnSet: Hashable, Sequence {
  /// The first 64 places, and the others.
  private var bits: UInt64 = 0
  private var rest: Set<Int> = []

  var isEmpty: Bool { bits == 0 && rest.isEmpty }

  mutating func insert(_ place: Int) {
    if place < 64 { bits |= 1 << UInt64(place) } else { rest.insert(place) }
  }

  /// The places in order.
  func makeIterator() -> AnyIterator<Int> {
    var bits = bits
    var rest = self.rest.isEmpty ? [] : self.rest.sorted()[...]
    return AnyIterator {
      guard bits == 0 else {
        let place = bits.trailingZeroBitCount
        bits &= bits - 1
        return place
      }
      return rest.popFirst()
    }
  }
}
