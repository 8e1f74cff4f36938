import Glibc

/// Bytes that are appended, and read again at any place. A few blocks are in memory; when there are more, the others are in
/// a temporary file without a name.
///
/// 1. `slots[slotOf[n]]` holds block n, if `slotOf[n]` isn't -1; otherwise the block is in the file.
/// 2. A block that was changed since it was read is written to the file before its slot holds another.
/// 3. Which slot is taken next is decided by a clock: one that was used since the hand passed it last is left out once.
final class SpilledBytes {
  static let blockSize = 64 << 10

  private struct Slot {
    let bytes: UnsafeMutablePointer<UInt8>
    var block: Int
    var isChanged: Bool
    var wasUsed: Bool
  }

  private(set) var count: Int64 = 0
  private let maximumSlots: Int
  private var slots: [Slot] = []
  private var slotOf: [Int32] = []
  private var hand = 0
  private var descriptor: Int32 = -1

  /// - Parameter slots: the blocks held in memory.
  init(slots: Int) { maximumSlots = max(1, slots) }

  deinit {
    for slot in slots { slot.bytes.deallocate() }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Whether some of the bytes are in a file.
  var isSpilled: Bool { descriptor >= 0 }

  func append(_ bytes: UnsafeRawBufferPointer) throws(ReaderError) {
    var done = 0
    while done < bytes.count {
      let place = Int(count % Int64(Self.blockSize))
      let block = Int(count / Int64(Self.blockSize))
      if block == slotOf.count { slotOf.append(-1) }
      let length = min(bytes.count - done, Self.blockSize - place)
      let slot = try slot(of: block, isNew: place == 0)
      if let base = bytes.baseAddress {
        UnsafeMutableRawPointer(slots[slot].bytes + place).copyMemory(from: base + done, byteCount: length)
      }
      slots[slot].isChanged = true
      count += Int64(length)
      done += length
    }
  }

  /// Appends a part of the bytes, which must be there.
  func copy(from start: Int64, count length: Int, to output: inout [UInt8]) throws(ReaderError) {
    var place = start
    let end = start + Int64(length)
    precondition(start >= 0 && length >= 0 && end <= count, "There are no such bytes")
    while place < end {
      let slot = try slot(of: Int(place / Int64(Self.blockSize)), isNew: false)
      let offset = Int(place % Int64(Self.blockSize))
      let piece = min(Int(end - place), Self.blockSize - offset)
      output.append(contentsOf: UnsafeBufferPointer(start: slots[slot].bytes + offset, count: piece))
      place += Int64(piece)
    }
  }

  /// The little-endian number at a place that is a multiple of eight.
  func number(at place: Int64) throws(ReaderError) -> Int64 {
    precondition(place >= 0 && place % 8 == 0 && place + 8 <= count, "There is no such number")
    let slot = try slot(of: Int(place / Int64(Self.blockSize)), isNew: false)
    let bytes = UnsafeRawPointer(slots[slot].bytes + Int(place % Int64(Self.blockSize)))
    return Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
  }

  /// Appends a number; only numbers are in these bytes then.
  func append(number: Int64) throws(ReaderError) {
    var bytes = number.littleEndian
    try withUnsafeBytes(of: &bytes) { (bytes) throws(ReaderError) in try append(bytes) }
  }

  private func slot(of block: Int, isNew: Bool) throws(ReaderError) -> Int {
    let known = Int(slotOf[block])
    if known >= 0 {
      slots[known].wasUsed = true
      return known
    }
    let slot = try freeSlot()
    if !isNew { try read(block, into: slots[slot].bytes) }
    slots[slot].block = block
    slots[slot].isChanged = isNew
    slots[slot].wasUsed = true
    slotOf[block] = Int32(truncatingIfNeeded: slot)
    return slot
  }

  private func freeSlot() throws(ReaderError) -> Int {
    if slots.count < maximumSlots {
      slots.append(
        Slot(bytes: .allocate(capacity: Self.blockSize), block: -1, isChanged: false, wasUsed: false))
      return slots.count - 1
    }
    while slots[hand].wasUsed {
      slots[hand].wasUsed = false
      hand = (hand + 1) % slots.count
    }
    let slot = hand
    hand = (hand + 1) % slots.count
    if slots[slot].block >= 0 {
      if slots[slot].isChanged { try write(slots[slot].block, from: slots[slot].bytes) }
      slotOf[slots[slot].block] = -1
      slots[slot].block = -1
    }
    return slot
  }

  private func read(_ block: Int, into bytes: UnsafeMutablePointer<UInt8>) throws(ReaderError) {
    var done = 0
    while done < Self.blockSize {
      let got = pread(descriptor, bytes + done, Self.blockSize - done, off_t(block * Self.blockSize + done))
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { throw .readFailed(errno: got == 0 ? EIO : errno) }
      done += got
    }
  }

  private func write(_ block: Int, from bytes: UnsafeMutablePointer<UInt8>) throws(ReaderError) {
    if descriptor < 0 { descriptor = try Self.makeFile() }
    var done = 0
    while done < Self.blockSize {
      let put = pwrite(descriptor, bytes + done, Self.blockSize - done, off_t(block * Self.blockSize + done))
      if put < 0, errno == EINTR { continue }
      guard put > 0 else { throw .workbook(.noTemporarySpace(errno: put == 0 ? ENOSPC : errno)) }
      done += put
    }
  }

  /// A file without a name, where SQLite has its temporary files.
  private static func makeFile() throws(ReaderError) -> Int32 {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { (name: String) -> String? in
      getenv(name).map { String(cString: $0) }
    }
    var code = ENOENT
    for folder in named + ["/var/tmp", "/tmp"] {
      var path = Array("\(folder)/lade-XXXXXX".utf8CString)
      let opened = mkstemp(&path)
      guard opened >= 0 else {
        code = errno
        continue
      }
      unlink(path)
      _ = fcntl(opened, F_SETFD, FD_CLOEXEC)
      return opened
    }
    throw .workbook(.noTemporarySpace(errno: code))
  }
}
