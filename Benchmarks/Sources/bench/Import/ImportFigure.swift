import BenchSupport

/// A line of the table: a figure, who the peer was, and what memory each took.
struct ImportFigure: Encodable {
  var result: BenchResult
  /// What the peer is, also where it isn't installed.
  var peer: String
  var oursPeakMiB: Double?
  var peerPeakMiB: Double?

  /// Rows a second of two sides that did the same, with the ratio to reach.
  init(_ name: String, rows: Int, _ ours: Standing, _ theirs: Standing?, peer: String, atLeast ratio: Double) {
    result = BenchResult(
      name, ours: ours.rate(rows), peer: theirs?.rate(rows), unit: "rows/s", goal: .ratioAtLeast(ratio))
    self.peer = theirs?.name ?? "\(peer), not installed"
    oursPeakMiB = ours.peakMiB
    peerPeakMiB = theirs?.peakMiB
  }

  /// A figure of another kind.
  init(_ result: BenchResult, peer: String) {
    self.result = result
    self.peer = peer
  }

  private enum CodingKeys: String, CodingKey { case peerName, oursPeakMiB, peerPeakMiB }

  /// The keys of a ``BenchResult``, and three of its own.
  func encode(to encoder: any Encoder) throws {
    try result.encode(to: encoder)
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(peer, forKey: .peerName)
    try values.encode(oursPeakMiB, forKey: .oursPeakMiB)
    try values.encode(peerPeakMiB, forKey: .peerPeakMiB)
  }
}

extension [ImportFigure] {
  /// The same for people.
  var table: TextSet {
    var table = TextSet(headings: ["", "ours", "peer", "ratio", "goal", "met", "MiB", "peer's", "peer is"])
    for figure in self {
      table.append(
        figure.result.cells + [
          figure.oursPeakMiB.map(BenchSupport.figure) ?? "", figure.peerPeakMiB.map(BenchSupport.figure) ?? "",
          figure.peer,
        ])
    }
    return table
  }
}
