// A binary property list as the XML that it stands for, each tag on a line of its own. It then has the same records,
// lines and rejects as the XML form, and one reader serves both. Memory is that of the open containers and a piece of text. An
// object may be used in several places, so a short file can expand: the limits of unpacking bound that.

/// The XML of a binary property list.
final class BinaryPropertyListSource: ByteSource {
  private(set) var offset: Int64 = 0
  private let file: BinaryPropertyListFile
  private let limit: ExpansionLimit
  private var open: [Part] = []
  private var output: [UInt8] = []
  /// The bytes of `output` that were read.
  private var given = 0
  private var state = State.before
  private var failure: ReaderError?
  /// Bytes of objects written so far, for a progress bar.
  private var done: Int64 = 0

  private enum State { case before, inside, after }

  /// A value that is being written.
  private enum Part {
    case array(Container)
    /// Keys and values in turns.
    case dictionary(Container, values: Int64)
    case ascii(at: Int64, count: Int64, end: StaticString)
    case utf16(at: Int64, count: Int64, end: StaticString)
    case data(at: Int64, count: Int64)

    /// Its object number, if it may hold others.
    var container: UInt64? {
      switch self {
      case .array(let container), .dictionary(let container, _): container.number
      case .ascii, .utf16, .data: nil
      }
    }
  }

  private struct Container {
    let number: UInt64
    let references: Int64
    let count: Int64
    var index: Int64 = 0
  }

  /// Nested containers: the limit of the XML reader, less one for `plist`.
  private static let maximumDepth = XMLMistake.maximumDepth - 2
  /// Bytes of a string or data written in one piece.
  private static let piece: Int64 = 12 << 10

  /// - Throws: `ReaderError` when its header or trailer isn't that of such a file.
  init(_ source: any ByteSource, limit: ExpansionLimit) throws(ReaderError) {
    file = try BinaryPropertyListFile(RandomAccessBytes(source))
    self.limit = limit
  }

  var progress: (done: Int64, total: Int64) { (min(done, file.size), file.size) }

  func rewind() {
    (offset, given, done, state, failure) = (0, 0, 0, .before, nil)
    open.removeAll()
    output.removeAll()
  }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    while output.count - given < count, state != .after, failure == nil {
      if given > 0 {
        output.removeFirst(given)
        given = 0
      }
      do throws(ReaderError) {
        try limit.check(unpacked: offset + Int64(output.count), from: file.size)
        try write()
      } catch {
        failure = error
      }
    }
    let got = min(count, output.count - given)
    if got == 0, let failure { throw failure }
    output.withUnsafeBufferPointer { bytes in
      if let base = bytes.baseAddress { target.update(from: base + given, count: got) }
    }
    given += got
    offset += Int64(got)
    return got
  }

  /// Writes the next few tags or a piece of text.
  private func write() throws(ReaderError) {
    switch state {
    case .before:
      output += Array("\(PropertyListRejects.head)\n<plist version=\"1.0\">\n".utf8)
      state = .inside
      try begin(file.top)
    case .inside:
      guard let part = open.popLast() else {
        output += Array("</plist>\n".utf8)
        state = .after
        return
      }
      try goOn(part)
    case .after: break
    }
  }

  private func goOn(_ part: Part) throws(ReaderError) {
    switch part {
    case .array(var container):
      guard container.index < container.count else { return add("</array>\n") }
      let number = try file.reference(container.index, from: container.references)
      container.index += 1
      open.append(.array(container))
      try begin(number)
    case .dictionary(var container, let values):
      guard container.index < container.count * 2 else { return add("</dict>\n") }
      let isKey = container.index % 2 == 0
      let number = try file.reference(container.index / 2, from: isKey ? container.references : values)
      container.index += 1
      open.append(.dictionary(container, values: values))
      if isKey { try beginKey(number, in: container) } else { try begin(number) }
    case .ascii(let place, let count, let end):
      try writeASCII(place, count, end)
    case .utf16(let place, let count, let end):
      try writeUTF16(place, count, end)
    case .data(let place, let count):
      var bytes: [UInt8] = []
      for index in place..<place + min(count, Self.piece) {
        bytes.append(UInt8(truncatingIfNeeded: try file.number(at: index, count: 1)))
      }
      bytes.withUnsafeBytes { Base64.append($0, to: &output) }
      done += Int64(bytes.count)
      if count > Self.piece {
        open.append(.data(at: place + Self.piece, count: count - Self.piece))
      } else {
        add("</data>\n")
      }
    }
  }

  private func begin(_ number: UInt64) throws(ReaderError) {
    done += 1
    switch try file.object(number) {
    case .no: add("<false/>\n")
    case .yes: add("<true/>\n")
    case .integer(let text): output += Array("<integer>\(text)</integer>\n".utf8)
    case .real(let text): output += Array("<real>\(text)</real>\n".utf8)
    case .date(let text): output += Array("<date>\(text)</date>\n".utf8)
    case .data(let place, let count):
      add("<data>")
      open.append(.data(at: place, count: count))
    case .ascii(let place, let count):
      add("<string>")
      open.append(.ascii(at: place, count: count, end: "</string>\n"))
    case .utf16(let place, let count):
      add("<string>")
      open.append(.utf16(at: place, count: count, end: "</string>\n"))
    case .array(let place, let count):
      try checkNesting(number)
      add("<array>\n")
      open.append(.array(Container(number: number, references: place, count: count)))
    case .dictionary(let place, let count):
      try checkNesting(number)
      add("<dict>\n")
      open.append(
        .dictionary(
          Container(number: number, references: place, count: count),
          values: file.values(ofKeysAt: place, count: count)))
    }
  }

  private func beginKey(_ number: UInt64, in container: Container) throws(ReaderError) {
    switch try file.object(number) {
    case .ascii(let place, let count): open.append(.ascii(at: place, count: count, end: "</key>\n"))
    case .utf16(let place, let count): open.append(.utf16(at: place, count: count, end: "</key>\n"))
    default: throw BinaryPropertyListFile.damaged(container.references, "a key isn't a string")
    }
    add("<key>")
  }

  private func checkNesting(_ number: UInt64) throws(ReaderError) {
    guard open.count < Self.maximumDepth else {
      throw BinaryPropertyListFile.damaged(0, "its objects are nested more than \(Self.maximumDepth) deep")
    }
    guard !open.contains(where: { $0.container == number }) else {
      throw BinaryPropertyListFile.damaged(0, "object \(number) is inside itself")
    }
  }

  private func writeASCII(_ place: Int64, _ count: Int64, _ end: StaticString) throws(ReaderError) {
    let stop = place + min(count, Self.piece)
    for index in place..<stop {
      let byte = UInt8(truncatingIfNeeded: try file.number(at: index, count: 1))
      guard byte < 0x80 else {
        throw BinaryPropertyListFile.damaged(index, "a string isn't the ASCII that it should be")
      }
      add(Unicode.Scalar(byte))
    }
    done += stop - place
    if count > Self.piece {
      open.append(.ascii(at: stop, count: count - Self.piece, end: end))
    } else {
      add(end)
    }
  }

  private func writeUTF16(_ place: Int64, _ count: Int64, _ end: StaticString) throws(ReaderError) {
    var (index, left) = (place, count)
    let stop = place + Self.piece
    while left > 0, index < stop {
      let unit = UInt16(truncatingIfNeeded: try file.number(at: index, count: 2))
      index += 2
      left -= 1
      if let scalar = Unicode.Scalar(UInt32(unit)) {
        add(scalar)
        continue
      }
      let low = left > 0 && unit < 0xDC00 ? UInt16(truncatingIfNeeded: try file.number(at: index, count: 2)) : 0
      if low & 0xFC00 == 0xDC00,
        let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(low) & 0x3FF)
      {
        index += 2
        left -= 1
        add(scalar)
      } else {
        // A lone surrogate: a byte that UTF-8 doesn't have gets the record rejected.
        output.append(0xFF)
      }
    }
    done += index - place
    if left > 0 {
      open.append(.utf16(at: index, count: left, end: end))
    } else {
      add(end)
    }
  }

  private func add(_ text: StaticString) {
    output.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private func add(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "<": add("&lt;")
    case ">": add("&gt;")
    case "&": add("&amp;")
    case "\r": add("&#13;")
    case _ where scalar.isASCII: output.append(UInt8(truncatingIfNeeded: scalar.value))
    default: output.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
    }
  }
}
