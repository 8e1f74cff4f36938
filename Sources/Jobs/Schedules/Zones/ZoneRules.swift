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

extension ZoneRules {
  /// Reads a file of zone rules, as tzfile(5) describes it.
  ///
  /// Nil if it isn't one, or one of those that count leap seconds, which no clock of a daemon does.
  init?(file bytes: [UInt8]) {
    var reader = Reader(bytes: bytes)
    guard var header = reader.header() else { return nil }
    if header.version >= UInt8(ascii: "2") {
      // The same again, with times of eight bytes.
      reader.index += header.length(ofTime: 4)
      guard let second = reader.header() else { return nil }
      header = second
    }
    let width = header.version >= UInt8(ascii: "2") ? 8 : 4
    guard header.leapSeconds == 0, header.types > 0, reader.has(header.length(ofTime: width)) else { return nil }
    var transitions: [Int64] = []
    for _ in 0..<header.transitions { transitions.append(reader.integer(width)) }
    var types: [Int] = []
    for _ in 0..<header.transitions { types.append(Int(reader.integer(1) & 0xff)) }
    var offsetsByType: [Int] = []
    for _ in 0..<header.types {
      offsetsByType.append(Int(reader.integer(4)))
      reader.index += 2
    }
    guard types.allSatisfy({ $0 < offsetsByType.count }), zip(transitions, transitions.dropFirst()).allSatisfy(<),
      offsetsByType.allSatisfy({ abs($0) < 86_400 })
    else { return nil }
    reader.index += header.letters + header.standardFlags + header.utcFlags
    var rest: RecurringZone?
    if width == 8, reader.index + 2 <= bytes.count {
      let line = bytes[(reader.index + 1)...].prefix { $0 != UInt8(ascii: "\n") }
      if !line.isEmpty {
        guard let zone = RecurringZone(posix: line) else { return nil }
        rest = zone
      }
    }
    self.init(
      transitions: transitions, offsets: types.map { offsetsByType[$0] }, initialOffset: offsetsByType[0], rest: rest)
  }

  private struct Header {
    var version: UInt8
    var utcFlags, standardFlags, leapSeconds, transitions, types, letters: Int

    /// Bytes after the header.
    func length(ofTime width: Int) -> Int {
      transitions * (width + 1) + types * 6 + letters + leapSeconds * (width + 4) + standardFlags + utcFlags
    }
  }

  private struct Reader {
    let bytes: [UInt8]
    var index = 0

    func has(_ count: Int) -> Bool { count <= bytes.count - index }

    /// A big-endian number of `width` bytes. The caller has checked that they are there.
    mutating func integer(_ width: Int) -> Int64 {
      var value: Int64 = width > 1 && bytes[index] >= 0x80 ? -1 : 0
      for _ in 0..<width {
        value = value << 8 | Int64(bytes[index])
        index += 1
      }
      return value
    }

    mutating func header() -> Header? {
      guard index <= bytes.count, has(44), bytes[index..<index + 4].elementsEqual("TZif".utf8) else { return nil }
      let version = bytes[index + 4]
      index += 20
      let counts = (0..<6).map { _ in Int(integer(4)) }
      guard counts.allSatisfy({ 0...1_000_000 ~= $0 }) else { return nil }
      return Header(
        version: version, utcFlags: counts[0], standardFlags: counts[1], leapSeconds: counts[2],
        transitions: counts[3], types: counts[4], letters: counts[5])
    }
  }
}
