import ManagedObjects

/// Rows of a batch that need an object which a later row of the batch may be.
struct WaitingRows {
  /// For each end, the rows that wait for a key.
  private var rows: [[Value: [Int]]]
  private var ready: [Int] = []
  private var delayed: Set<Int> = []

  init(ends: Int) { rows = Array(repeating: [:], count: ends) }

  /// Has a row wait for the object of a key.
  mutating func wait(_ row: Int, for key: Value, _ place: Int) {
    rows[place][key, default: []].append(row)
    delayed.insert(row)
  }

  /// Whether a row has had to wait, and so is applied after later rows.
  func hasWaited(_ row: Int) -> Bool { !delayed.isEmpty && delayed.contains(row) }

  /// Readies the rows that wait for a key.
  mutating func wake(_ place: Int, _ key: Value) {
    if let woken = rows[place].removeValue(forKey: key) { ready += woken }
  }

  /// The rows that are ready to be applied.
  mutating func takeReady() -> [Int] {
    if ready.isEmpty { return [] }
    defer { ready.removeAll(keepingCapacity: true) }
    return ready
  }

  /// The rows that still wait, in order.
  var remaining: [Int] { rows.flatMap { $0.values.joined() }.sorted() }
}
