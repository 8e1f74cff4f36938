@testable import Importing

/// Reads an input as a file in three ways that must agree: in one go, with blocks of a few bytes and a record at a time,
/// and from the position after some of the records. The result must also be sound in itself.
final class ReaderTarget: FuzzTarget {
  private let file: MemoryFile
  private let choose: (inout Choices) -> ReaderChoices

  init(_ choose: @escaping (inout Choices) -> ReaderChoices) throws {
    self.choose = choose
    file = try MemoryFile()
  }

  func run(_ input: [UInt8]) throws {
    guard let (bytes, said) = Choices.split(input) else { return }
    var choices = said
    var chosen = choose(&choices)
    // A byte order mark overrules the options.
    if EncodingGuess(sample: bytes, isWhole: true, options: chosen.options).encoding != .utf8 {
      chosen.isVerbatim = false
    }
    try file.hold(bytes)
    let whole = try Reading(file, chosen, limit: 1_000, blockSize: 256 << 10)
    try whole.check(against: bytes, chosen)
    let slow = try Reading(file, chosen, limit: 1, blockSize: chosen.blockSize)
    try slow.check(against: bytes, chosen)
    try compare(whole, slow, isPacked: chosen.isPacked)

    let step = max(1, slow.ends.count / 8)
    for index in stride(from: 0, to: slow.ends.count, by: step) {
      let rest = try Reading(file, chosen, from: slow.ends[index], limit: 3, blockSize: 7)
      try compare(slow.after(index), rest, isPacked: chosen.isPacked)
    }
    if let last = slow.ends.last {
      let rest = try Reading(file, chosen, from: last, limit: 3, blockSize: 256 << 10)
      try compare(slow.after(slow.ends.count - 1), rest, isPacked: chosen.isPacked)
    }
  }

  private func compare(_ one: Reading, _ other: Reading, isPacked: Bool) throws {
    let isDamaged = isPacked && one.error != nil && other.error != nil
    if one.error != other.error, !isDamaged {
      throw BrokenPromise(
        description: "the errors differ: \(String(describing: one.error)), \(String(describing: other.error))")
    }
    if !isDamaged, one.records.count != other.records.count {
      throw BrokenPromise(description: "\(one.records.count) records are \(other.records.count)")
    }
    for (first, second) in zip(one.records, other.records) where first != second {
      throw BrokenPromise(description: "a record differs:\n\(first)\n\(second)")
    }
  }
}
