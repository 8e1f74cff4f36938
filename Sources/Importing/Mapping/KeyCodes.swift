import Foundation
import ManagedObjects

/// Numbers the keys that references of many batches have, each once, on the reading thread. The writing thread then finds a
/// key's object by its place in a list instead of hashing the key, for each row.
final class KeyCodes {
  /// The code of null.
  static let null: Int32 = -1
  /// The code of every long key. Such keys are looked up in each batch: remembered, they could fill the memory.
  static let unnumbered: Int32 = -2

  /// How many keys of a reference are numbered before numbering begins again: as many as the resolver remembers.
  private let limit: Int
  // Touched for each key, by one thread, so accesses never overlap and go unchecked.
  @exclusivity(unchecked) private var codes: [[Value: Int32]] = []
  /// Changes whenever numbering begins again.
  private(set) var generation = 0

  init(limit: Int = ReferenceResolver.cacheSize) { self.limit = limit }

  /// Begins again: places of references have changed.
  func reset() {
    codes.removeAll()
    generation += 1
  }

  /// Prepares for a batch whose rows have that many references. All keys of a batch are of one generation.
  func begin(references: Int, rows: Int) {
    if codes.contains(where: { $0.count + rows > limit }) { reset() }
    while codes.count < references { codes.append([:]) }
  }

  /// The number of a key, of a reference by its place in the mapping; ``null`` or ``unnumbered`` for those without one.
  @inline(__always)
  func code(_ key: Value, _ place: Int) -> Int32 {
    if key.isNull { return Self.null }
    if key.isLongKey { return Self.unnumbered }
    if let known = codes[place][key] { return known }
    let new = Int32(truncatingIfNeeded: codes[place].count)
    codes[place][key] = new
    return new
  }
}

/// The keys of a batch's rows for one reference.
struct CodedKeys {
  let keys: ArraySlice<Value>
  /// The number of each key, as ``KeyCodes`` gave it.
  let codes: ArraySlice<Int32>
  let generation: Int
}

extension Value {
  /// Whether a key is too long to be remembered.
  @inline(__always)
  var isLongKey: Bool {
    let limit = 64
    switch self {
    case .string(let text): return text.utf8.count > limit
    case .data(let data): return data.count > limit
    case .uri(let url): return url.absoluteString.utf8.count > limit
    default: return false
    }
  }
}
