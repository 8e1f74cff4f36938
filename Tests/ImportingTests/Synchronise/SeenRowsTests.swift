import Foundation
import Testing

@testable import Importing

@Suite("Rows that were seen")
struct SeenRowsTests {
  @Test("are the same after they were kept, few or many", arguments: [0, 1, 2, 100, 511, 512, 513, 4000, 8192])
  func kept(count: Int) {
    var dice = Lot(seed: UInt64(count))
    var rows = SeenRows()
    var numbers: Set<Int64> = count == 8192 ? Set(0..<8192) : []
    while numbers.count < count { numbers.insert(Int64(dice.draw(SeenRows.size))) }
    for number in numbers { rows.insert(number + 3 * Int64(SeenRows.size)) }
    #expect(rows.data.count <= 1024)
    let again = SeenRows(rows.data)
    #expect(again == rows)
    for number in 0..<Int64(SeenRows.size) where again.contains(number) != numbers.contains(number) {
      Issue.record("\(number)")
    }
  }

  @Test("have a place also when their numbers are below zero")
  func negative() {
    #expect(SeenRows.chunk(of: -1) == -1)
    #expect(SeenRows.chunk(of: -8192) == -1)
    #expect(SeenRows.chunk(of: -8193) == -2)
    var rows = SeenRows()
    rows.insert(-1)
    #expect(rows.contains(-1))
    #expect(!rows.contains(-2))
    #expect(rows.contains(8191))
  }

  @Test("of two batches are those of both")
  func union() {
    var (one, other) = (SeenRows(), SeenRows())
    one.insert(1)
    other.insert(8000)
    #expect(one.union(other).contains(1))
    #expect(one.union(other).contains(8000))
    #expect(one.union(one) == one)
  }
}
