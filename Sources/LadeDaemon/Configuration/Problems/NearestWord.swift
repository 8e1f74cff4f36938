/// The word that somebody most likely meant.
enum NearestWord {
  /// The nearest of `words` by the number of letters to change, or nil if none is near.
  static func to(_ word: String, among words: [String]) -> String? {
    let typed = Array(word.lowercased().unicodeScalars.prefix(64))
    let nearest = words.map { (word: $0, distance: distance(typed, Array($0.lowercased().unicodeScalars))) }
      .min { ($0.distance, $0.word) < ($1.distance, $1.word) }
    guard let nearest, nearest.distance <= max(1, typed.count / 3) else { return nil }
    return nearest.word
  }

  /// Levenshtein's distance, with a swap of neighbours counted as one change.
  private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var before = [Int]()
    var previous = Array(0...right.count)
    for (row, a) in left.enumerated() {
      var current = [row + 1]
      for (column, b) in right.enumerated() {
        var best = min(previous[column + 1] + 1, current[column] + 1, previous[column] + (a == b ? 0 : 1))
        if row > 0, column > 0, a == right[column - 1], left[row - 1] == b { best = min(best, before[column - 1] + 1) }
        current.append(best)
      }
      before = previous
      previous = current
    }
    return previous[right.count]
  }
}
