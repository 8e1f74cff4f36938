// Distinct values, remembered by a hash of 64 bits.
//
// 1. Two values with one hash count as one: the column then counts as not unique, which may lose a key but never yields a wrong
//    one.
// 2. A lookup in another file's set may be wrong once in some 10^12 times; a reference is then left empty, as the
//    importer says.
// 3. Memory is bounded by the budget that all sets share, not by the files.

/// The number of hashes that all sets of an inference may hold together.
final class HashBudget {
  private(set) var left: Int

  init(_ hashes: Int) { left = hashes }

  func take(_ count: Int) -> Bool {
    guard count <= left else { return false }
    left -= count
    return true
  }

  func give(back count: Int) { left += count }
}

/// A set of hashes in one block of memory, at most three quarters full.
struct KeySet {
  private var slots: ContiguousArray<UInt64> = []
  private(set) var count = 0
  private let budget: HashBudget

  enum Outcome {
    case new, known
    /// There is no room for it.
    case full
  }

  init(_ budget: HashBudget) { self.budget = budget }

  /// Adds a hash.
  mutating func insert(_ hash: UInt64) -> Outcome {
    if (count + 1) * 4 > slots.count * 3, !grow() { return .full }
    let hash = hash == 0 ? 1 : hash
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while slots[place] != 0 {
      if slots[place] == hash { return .known }
      place = (place + 1) & mask
    }
    slots[place] = hash
    count += 1
    return .new
  }

  func contains(_ hash: UInt64) -> Bool {
    guard !slots.isEmpty else { return false }
    let hash = hash == 0 ? 1 : hash
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while slots[place] != 0 {
      if slots[place] == hash { return true }
      place = (place + 1) & mask
    }
    return false
  }

  /// Removes all hashes and frees their memory.
  mutating func removeAll() {
    budget.give(back: slots.count)
    slots = []
    count = 0
  }

  private mutating func grow() -> Bool {
    let size = max(64, slots.count * 2)
    guard budget.take(size - slots.count) else { return false }
    let old = slots
    slots = ContiguousArray(repeating: 0, count: size)
    let mask = size - 1
    for hash in old where hash != 0 {
      var place = Int(truncatingIfNeeded: hash) & mask
      while slots[place] != 0 { place = (place + 1) & mask }
      slots[place] = hash
    }
    return true
  }
}

/// Hashes of values that agree with the comparison of keys.
enum KeyHash {
  /// The hash of a text's bytes; a UUID's without regard to case.
  static func of(_ text: UnsafeRawBufferPointer) -> UInt64 {
    let isUUID = text.count == 36 && text[8] == 0x2D && text[13] == 0x2D && text[18] == 0x2D && text[23] == 0x2D
    var hash = UInt64(text.count) &* 0x9E37_79B9_7F4A_7C15
    var index = 0
    while index + 8 <= text.count {
      var word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if isUUID { word |= 0x2020_2020_2020_2020 }
      hash = mix(hash ^ word)
      index += 8
    }
    var rest: UInt64 = 0
    while index < text.count {
      rest = rest << 8 | UInt64(isUUID ? text[index] | 0x20 : text[index])
      index += 1
    }
    return mix(hash ^ rest ^ 0xD6E8_FEB8_6659_FD93)
  }

  /// The hash of several values in order.
  static func combine(_ first: UInt64, _ second: UInt64) -> UInt64 { mix(mix(first) &+ second) }

  /// One to one, so that two words of eight bytes never come out the same. Source: David Stafford's "Mix13".
  private static func mix(_ word: UInt64) -> UInt64 {
    var word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
