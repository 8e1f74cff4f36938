/// How many jobs there are, by lane and state. Kept while jobs move, so that asking costs the same with a million.
package struct JobCounts: Sendable, Equatable, Codable {
  /// Every lane of the configuration, with the states that have jobs.
  package internal(set) var lanes: [String: [JobState: Int]]
  /// Jobs of lanes that aren't configured any more. No lane claims them.
  package internal(set) var other: [JobState: Int] = [:]

  init(lanes: some Sequence<String>) {
    self.lanes = Dictionary(lanes.map { ($0, [:]) }) { first, _ in first }
  }

  /// The jobs in a state, over all lanes.
  package subscript(state: JobState) -> Int {
    lanes.values.reduce(other[state] ?? 0) { $0 + ($1[state] ?? 0) }
  }

  /// A job of a lane moves; nil for one that is new, or is removed.
  mutating func move(in lane: String, from: JobState?, to: JobState?) {
    guard from != to else { return }
    if let from { add(-1, to: from, in: lane) }
    if let to { add(1, to: to, in: lane) }
  }

  mutating func add(_ number: Int, to state: JobState, in lane: String) {
    guard number != 0 else { return }
    if lanes[lane] != nil {
      lanes[lane]?[state, default: 0] += number
    } else {
      other[state, default: 0] += number
    }
  }
}
