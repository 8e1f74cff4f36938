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
