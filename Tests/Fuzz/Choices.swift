/// The choices of an input: its last four bytes, so that the bytes before are a plain file.
/// `0000` is the plainest reading.
struct Choices {
  static let count = 4
  private var rest: ArraySlice<UInt8>

  /// Splits an input; nil if it is too short.
  static func split(_ input: [UInt8]) -> (file: [UInt8], choices: Choices)? {
    guard input.count >= count else { return nil }
    return (Array(input.dropLast(count)), Choices(rest: input.suffix(count)))
  }

  /// The next number below the limit.
  mutating func pick(_ limit: Int) -> Int { Int((rest.popFirst() ?? 0x30) &- 0x30) % limit }

  mutating func pick<T>(of choices: [T]) -> T { choices[pick(choices.count)] }
}
