// What a zone's clocks show, from the system's own files (tzfile(5), RFC 8536): so schedules follow the same tables as
// every other program on the machine, as soon as its package of them is updated and the daemon started again.

/// How far the clocks of a zone are ahead of UTC, at any time.
struct ZoneRules: Sendable, Equatable {
  /// UTC itself.
  static let utc = ZoneRules(transitions: [], offsets: [], initialOffset: 0, rest: nil)

  /// Seconds from the start of 1970 at which the offset changes, in order.
  var transitions: [Int64]
  /// The offset from each transition on: seconds east of UTC.
  var offsets: [Int]
  /// The offset before the first transition.
  var initialOffset: Int
  /// What holds after the last transition; nil if nothing changes any more.
  var rest: RecurringZone?

  /// How many seconds the clocks are ahead of UTC at a time, in seconds after the start of 1970.
  func offset(at seconds: Int64) -> Int {
    guard let last = transitions.last else { return rest?.offset(at: seconds) ?? initialOffset }
    if seconds >= last, let rest { return rest.offset(at: seconds) }
    var low = 0
    var high = transitions.count
    while low < high {
      let middle = (low + high) / 2
      if transitions[middle] <= seconds { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? initialOffset : offsets[low - 1]
  }

  /// What a clock's reading may mean.
  enum Reading: Equatable {
    /// The times at which it shows this: two where it is set back over it.
    case times([Int64])
    /// It never shows this: it is set forward over it, to this reading.
    case skipped(to: Int64)
  }

  /// The times at which a clock shows `reading`: seconds from the start of 1970 as the clock counts them. A day around it
  /// is looked at, in which no zone changes its offset twice.
  func times(showing reading: Int64) -> Reading {
    let before = offset(at: reading - 86_400)
    let after = offset(at: reading + 86_400)
    let times = Set([before, after]).map { (offset: $0, time: reading - Int64($0)) }
      .filter { offset(at: $0.time) == $0.offset }.map(\.time)
    if !times.isEmpty { return .times(times.sorted()) }
    var low = reading - 86_400
    var high = reading + 86_400
    while high - low > 1 {
      let middle = (low + high) / 2
      if offset(at: middle) == before { low = middle } else { high = middle }
    }
    return .skipped(to: max(high + Int64(offset(at: high)), reading + 1))
  }
}
