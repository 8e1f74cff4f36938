package import Foundation

/// One line of a results file: Lade's figure and a peer's from the same run, and whether the goal is met.
package struct BenchResult: Sendable, Codable {
  /// What was measured.
  package var name: String
  package var ours: Double
  /// Nil if the peer isn't installed.
  package var peer: Double?
  /// The unit of `ours` and `peer`, and after a comma what the goal is for: see ``Goal``.
  package var unit: String
  /// `ours / peer`.
  package var ratio: Double?
  package var goal: Double
  /// False also if it is unknown because there was no peer.
  package var met: Bool

  /// What a figure is held against.
  package enum Goal: Sendable {
    case ratioAtLeast(Double)
    case ratioAtMost(Double)
    case oursAtMost(Double)
  }

  /// Works out the ratio and whether the goal is met.
  ///
  /// - Parameter unit: of both figures, such as `MiB`.
  package init(_ name: String, ours: Double, peer: Double?, unit: String, goal: Goal) {
    let ratio = peer.map { ours / $0 }
    self.name = name
    self.ours = ours
    self.peer = peer
    self.ratio = ratio
    switch goal {
    case .ratioAtLeast(let least):
      self.unit = unit + ", ratio at least"
      self.goal = least
      met = ratio.map { $0 >= least } ?? false
    case .ratioAtMost(let most):
      self.unit = unit + ", ratio at most"
      self.goal = most
      met = ratio.map { $0 <= most } ?? false
    case .oursAtMost(let most):
      self.unit = unit + ", ours at most"
      self.goal = most
      met = ours <= most
    }
  }

  /// Also writes what is nil, as `null`: every entry has all seven keys.
  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(ours, forKey: .ours)
    try values.encode(peer, forKey: .peer)
    try values.encode(unit, forKey: .unit)
    try values.encode(ratio, forKey: .ratio)
    try values.encode(goal, forKey: .goal)
    try values.encode(met, forKey: .met)
  }
}

/// Writes the results file of one benchmark, a JSON list; makes its folder if need be.
package func writeResults(_ results: [some Encodable], to file: URL) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
  try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
  try (encoder.encode(results) + Data("\n".utf8)).write(to: file, options: .atomic)
}

extension BenchResult {
  /// Name, ours, the peer's, ratio, goal and whether it is met, as a table shows them.
  package var cells: [String] {
    [
      "\(name) (\(unit.prefix { $0 != "," }))",
      figure(ours), peer.map(figure) ?? "–",
      ratio.map { String(format: "%.2f", $0) } ?? "–",
      unit.split(separator: ", ").dropFirst().joined() + " " + String(format: "%g", goal),
      met ? "yes" : "no",
    ]
  }
}

extension [BenchResult] {
  /// Writes the results file of one benchmark.
  package func write(to file: URL) throws { try writeResults(self, to: file) }

  /// The same for people. `peer` is the heading of the peer's column.
  package func table(peer: String) -> TextSet {
    var table = TextSet(headings: ["", "ours", peer, "ratio", "goal", "met"])
    for result in self { table.append(result.cells) }
    return table
  }
}

/// A number as a table shows it: grouped and whole from a thousand, else with one decimal.
package func figure(_ number: Double) -> String {
  guard abs(number) >= 1000, number.isFinite else { return String(format: "%.1f", number) }
  let digits = String(Int64(number.rounded()).magnitude)
  let grouped = digits.enumerated().map { place, digit in
    place > 0 && (digits.count - place).isMultiple(of: 3) ? ",\(digit)" : "\(digit)"
  }
  return (number < 0 ? "-" : "") + grouped.joined()
}
