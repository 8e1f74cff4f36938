/// Bytes on their way to a file, in memory that is used again. Belongs to one thread at a time.
final class TextBuffer {
  private(set) var start: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 1 << 18) {
    self.capacity = capacity
    start = .allocate(capacity: capacity)
  }

  deinit { start.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  func removeAll() { count = 0 }

  /// The place for so many more bytes, which ``advance(by:)`` then says were written.
  @inline(__always)
  func room(for more: Int) -> UnsafeMutablePointer<UInt8> {
    if count &+ more > capacity { grow(by: more) }
    return start + count
  }

  @inline(__always)
  func advance(by written: Int) { count &+= written }

  private func grow(by more: Int) {
    let larger = max(capacity * 2, count + more)
    let new = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    new.update(from: start, count: count)
    start.deallocate()
    (start, capacity) = (new, larger)
  }

  @inline(__always)
  func append(_ byte: UInt8) {
    room(for: 1).pointee = byte
    count &+= 1
  }

  @inline(__always)
  func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
    room(for: bytes.count).update(from: base, count: bytes.count)
    count &+= bytes.count
  }

  func append(_ text: StaticString) {
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  func append(_ number: Int64) {
    let place = room(for: 20)
    var rest = number.magnitude
    var end = 20
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      repeat {
        end &-= 1
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        digits[end] = UInt8(truncatingIfNeeded: digit) | 0x30
        rest = quotient
      } while rest > 0
      if number < 0 {
        end &-= 1
        digits[end] = UInt8(ascii: "-")
      }
      for index in end..<20 { place[index - end] = digits[index] }
    }
    count &+= 20 &- end
  }
}
