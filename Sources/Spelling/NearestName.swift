/// The name that a person probably meant: the "did you mean" of every message.
package enum NearestName {
  /// The one of `names` that is nearest to `name`, if it differs in at most a third of the letters, or in one.
  package static func of(_ name: String, among names: some Sequence<String>) -> String? {
    let wanted = Array(name.lowercased())
    // Names are short; a long text isn't worth the quadratic search.
    guard wanted.count <= 100 else { return nil }
    let candidates = names.filter { $0.count <= 100 }.map {
      (name: $0, distance: distance(wanted, Array($0.lowercased())))
    }
    guard let best = candidates.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) else { return nil }
    return best.distance <= max(1, (wanted.count + 1) / 3) ? best.name : nil
  }

  /// The Damerau–Levenshtein distance: letters to insert, delete, replace or swap with their neighbour.
  private static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
