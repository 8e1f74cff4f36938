import ManagedObjects
import Testing

@Suite("Which positions an order takes")
struct OrderPlanTests {
  private func plan(_ stored: [(Int64, Int64?)], _ wanted: [Int64]) -> [Int64: Int64] {
    let members = stored.map { OrderPlan.Member(number: $0.0, position: $0.1) }
    return Dictionary(OrderPlan.changes(from: members, to: wanted).map { ($0.number, $0.position) }) { $1 }
  }

  @Test("nothing is written for an order that holds")
  func unchanged() { #expect(plan([(1, 1024), (2, 2048)], [1, 2]).isEmpty) }

  @Test("the first order is numbered with room between")
  func first() { #expect(plan([(1, nil), (2, nil)], [2, 1]) == [2: 1024, 1: 2048]) }

  @Test("only what moves is written: to the front, between, to the end")
  func moves() {
    let stored: [(Int64, Int64?)] = [(1, 1024), (2, 2048), (3, 3072)]
    #expect(plan(stored, [3, 1, 2]) == [3: 0])
    #expect(plan(stored, [1, 3, 2]).count == 1)
    #expect(plan(stored, [2, 3, 1]) == [1: 4096])
  }

  @Test("without a gap between two, all are renumbered")
  func noRoom() { #expect(plan([(1, 1), (2, 2), (3, nil)], [1, 3, 2]) == [1: 1024, 3: 2048, 2: 3072]) }

  @Test("members that aren't wanted stay behind their predecessors, and missing ones are ignored")
  func strangers() {
    let stored: [(Int64, Int64?)] = [(1, 1024), (9, 1500), (2, 2048)]
    #expect(plan(stored, [2, 1, 7]) == [2: 0])
  }

  @Test("any order is reached from any other", arguments: 0..<200)
  func reached(_ seed: Int) {
    var generator = Draw(state: UInt64(seed))
    let count = Int64.random(in: 0...12, using: &generator)
    let numbers = (0..<count).map { $0 }
    let stored = numbers.map { number in
      OrderPlan.Member(number: number, position: Bool.random(using: &generator) ? Int64.random(in: -3...8) : nil)
    }.sorted { $0.isBefore($1) }
    let wanted = numbers.shuffled(using: &generator)
    var positions = Dictionary(stored.map { ($0.number, $0.position) }) { $1 }
    for (number, position) in OrderPlan.changes(from: stored, to: wanted) { positions[number] = position }
    let reached = numbers.map { OrderPlan.Member(number: $0, position: positions[$0] ?? nil) }
      .sorted { $0.isBefore($1) }
    #expect(reached.map(\.number) == wanted, "seed \(seed): from \(stored)")
  }
}

/// Numbers that look drawn and are the same every time.
private struct Draw: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
