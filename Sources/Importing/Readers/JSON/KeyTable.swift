/// The column of every key met so far. Keys are found by their bytes, without making a `String`.
///
/// Hashed with the process's random seed, and bounded, so that a file can't choose keys that make it slow or large.
struct KeyTable {
  private(set) var names: [String] = []
  private var text: [UInt8] = []
  /// Where a column's name begins in `text`; one more than there are columns.
  private var starts: [Int] = [0]
  /// Open addressing: column + 1, or 0. Twice as many as columns at least.
  private var slots = [Int32](repeating: 0, count: 64)

  init(names: [String]) {
    for name in names {
      var name = name
      name.withUTF8 { _ = column(of: $0, expected: 0) }
    }
  }

  /// The column of a key, a new one if it is new; nil if there are too many.
  ///
  /// - Parameter expected: the column that it probably is: records have their keys in the same order mostly.
  mutating func column(of key: UnsafeBufferPointer<UInt8>, expected: Int) -> Int? {
    if expected < names.count, matches(expected, key) { return expected }
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(key))
    let hash = hasher.finalize()
    var slot = hash & (slots.count - 1)
    while slots[slot] != 0 {
      let column = Int(slots[slot]) - 1
      if matches(column, key) { return column }
      slot = (slot + 1) & (slots.count - 1)
    }
    guard names.count < ReaderOptions.maximumColumns, text.count + key.count <= ReaderOptions.maximumColumnText else {
      return nil
    }
    names.append(String(decoding: key, as: UTF8.self))
    text.append(contentsOf: key)
    starts.append(text.count)
    slots[slot] = Int32(names.count)
    if names.count * 2 > slots.count { grow() }
    return names.count - 1
  }

  @inline(__always)
  private func matches(_ column: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
    let start = starts[column]
    guard starts[column + 1] - start == key.count else { return false }
    return text.withUnsafeBufferPointer { bytes in
      for index in 0..<key.count where bytes[start &+ index] != key[index] { return false }
      return true
    }
  }

  private mutating func grow() {
    slots = [Int32](repeating: 0, count: slots.count * 2)
    for column in names.indices {
      var hasher = Hasher()
      text.withUnsafeBytes { hasher.combine(bytes: .init(rebasing: $0[starts[column]..<starts[column + 1]])) }
      var slot = hasher.finalize() & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(column + 1)
    }
  }
}
