/// A column's own words for true and false. Case makes no difference.
struct BooleanWords: Sendable {
  private let words: TextSet
  /// How many words mean true; they come first.
  private let trueCount: Int
  /// The expected words, for error messages.
  let description: String

  /// If one of the two isn't given, the usual words are taken.
  /// - Throws: `ConverterError.badOption` if a word means both.
  init(trueWords: [String]?, falseWords: [String]?, attribute: String) throws(ConverterError) {
    func lowercased(_ words: [String]) -> [String] {
      var known: Set<String> = []
      return words.map { $0.lowercased() }.filter { known.insert($0).inserted }
    }
    for (option, words) in [("true_words", trueWords), ("false_words", falseWords)] {
      guard let words, words.isEmpty || words.contains("") else { continue }
      throw .badOption(
        attribute: attribute, option: option, value: words.joined(separator: ", "),
        reason: "must be one word or more; an empty field is null")
    }
    let truths = lowercased(trueWords ?? ["true", "yes", "t", "y", "1"])
    let falsehoods = lowercased(falseWords ?? ["false", "no", "f", "n", "0"])
    if let both = truths.first(where: falsehoods.contains) {
      let usual = trueWords == nil ? "; true_words says others" : falseWords == nil ? "; false_words says others" : ""
      throw .badOption(
        attribute: attribute, option: trueWords == nil ? "false_words" : "true_words", value: both,
        reason: "means both true and false" + usual)
    }
    words = TextSet(truths + falsehoods)
    trueCount = truths.count
    description = "\(truths.joined(separator: ", ")) or \(falsehoods.joined(separator: ", "))"
  }

  /// Whether the text is a word for true; nil if it is none of the words.
  func truth(_ text: UnsafeRawBufferPointer) -> Bool? {
    // Lowercasing may change the length of non-ASCII letters, but by less than a factor of four.
    guard text.count <= words.longest * 4 else { return nil }
    if text.contains(where: { $0 >= 0x80 }) {
      var small = String(decoding: text, as: UTF8.self).lowercased()
      return small.withUTF8 { meaning(words.find(UnsafeRawBufferPointer($0))) }
    }
    return withUnsafeTemporaryAllocation(byteCount: max(1, text.count), alignment: 1) { buffer in
      for (index, byte) in text.enumerated() { buffer[index] = byte &- 0x41 < 26 ? byte | 0x20 : byte }
      return meaning(words.find(UnsafeRawBufferPointer(rebasing: buffer[..<text.count])))
    }
  }

  private func meaning(_ number: Int?) -> Bool? { number.map { $0 < trueCount } }
}
