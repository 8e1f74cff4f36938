/// A set of texts, found by their bytes: for null tokens, words and value maps. Built once; a search creates no String and
/// allocates nothing.
struct TextSet: Sendable {
  private var bytes: [UInt8] = []
  /// Where each text begins in `bytes`, and the end of the last one.
  private var starts: [Int] = [0]
  /// For each hash, the number of a text plus one, or 0 for none. Their count is a power of two, and at most half are used.
  private var buckets: [Int32]
  private(set) var longest = 0

  /// The set of these texts.
  init(_ texts: some Sequence<String>) {
    let texts = Array(texts)
    var size = 8
    while size < texts.count * 2 { size *= 2 }
    buckets = Array(repeating: 0, count: size)
    for text in texts { add(text) }
  }

  var count: Int { starts.count - 1 }

  private mutating func add(_ text: String) {
    let text = Array(text.utf8)
    let place = text.withUnsafeBytes { bucket(of: $0) }
    guard buckets[place] == 0 else { return }
    bytes += text
    starts.append(bytes.count)
    longest = max(longest, text.count)
    buckets[place] = Int32(count)
  }

  /// The number of a text, in the order in which they were given; nil if it isn't there.
  func find(_ text: UnsafeRawBufferPointer) -> Int? {
    // Also avoids hashing a text of any length.
    guard text.count <= longest else { return nil }
    let number = buckets[bucket(of: text)]
    return number == 0 ? nil : Int(number) - 1
  }

  func contains(_ text: UnsafeRawBufferPointer) -> Bool { find(text) != nil }

  /// The bucket of a text, or the free one where it would be added.
  private func bucket(of text: UnsafeRawBufferPointer) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let mask = buckets.count - 1
    var place = Int(truncatingIfNeeded: hash ^ (hash >> 32)) & mask
    while buckets[place] != 0, !isText(Int(buckets[place]) - 1, text) { place = (place + 1) & mask }
    return place
  }

  private func isText(_ number: Int, _ text: UnsafeRawBufferPointer) -> Bool {
    let start = starts[number]
    guard starts[number + 1] - start == text.count else { return false }
    for index in 0..<text.count where bytes[start + index] != text[index] { return false }
    return true
  }
}
