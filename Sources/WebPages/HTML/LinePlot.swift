import LadeTypes

/// Lines over time, drawn by the server. Colours are the style sheet's, and dashes tell the lines apart without them.
struct LinePlot {
  struct Line {
    let name: String
    /// One for each point of time; nil where there is none.
    let values: [Double?]
  }

  private static let (width, height, top): (Int, Int, Int) = (600, 100, 4)
  private static let styles: [Attribute] = [
    .style("line line-1"), .style("line line-2"), .style("line line-3"), .style("line line-4"),
  ]

  /// A word of ours.
  let id: String
  let title: String
  let unit: String
  let lines: [Line]

  private var largest: Double { lines.flatMap(\.values).compactMap(\.self).filter(\.isFinite).max() ?? 0 }

  private func words(_ value: Double) -> String {
    value >= 100 || value == value.rounded() ? Quantity.count(Int64(clamping: value)) : "\((value * 10).rounded() / 10)"
  }

  /// The plot with its title, its scale and what each line is.
  var figure: HTML {
    HTML.element("figure", .style("plot")) {
      HTML.element(
        "svg", .other("viewBox", "0 0 600 108"), .other("preserveAspectRatio", "none"), .other("role", "img"),
        .labelledBy("plot-\(id)"), .describedBy("plot-\(id)-text")
      ) {
        HTML.element("title", .id("plot-\(id)")) { title }
        HTML.element("desc", .id("plot-\(id)-text")) { description }
        HTML.element("line", .style("axis"), .other("x1", 0), .other("x2", 600), .other("y1", 104), .other("y2", 104)) {
          HTML.empty
        }
        for (place, line) in lines.prefix(Self.styles.count).enumerated() {
          for run in runs(of: line) {
            HTML.element("polyline", Self.styles[place], .points(run)) { HTML.empty }
          }
        }
      }
      HTML.element("figcaption") {
        HTML.element("strong") { title }
        ", up to \(words(largest)) \(unit)"
        if lines.count > 1 {
          for (place, line) in lines.prefix(Self.styles.count).enumerated() {
            " "
            HTML.element("span", .style("legend")) {
              HTML.element("svg", .style("sample"), .other("viewBox", "0 0 24 8"), .other("aria-hidden", "true")) {
                HTML.element("polyline", Self.styles[place], .points([(0, 4), (24, 4)])) { HTML.empty }
              }
              " "
              HTML.name(line.name)
            }
          }
        }
      }
    }
  }

  /// For who can't see it; the figures are in a table.
  private var description: String {
    lines.map { line in
      let values = line.values.compactMap(\.self)
      guard let last = values.last, let most = values.max() else { return "\(line.name): nothing." }
      return "\(line.name): \(words(last)) at the end, \(words(most)) at most."
    }.joined(separator: " ")
  }

  /// The stretches of a line that have values; a value by itself is a short stretch.
  private func runs(of line: Line) -> [[(x: Int, y: Int)]] {
    var runs: [[(x: Int, y: Int)]] = []
    var isOpen = false
    let step = Double(Self.width) / Double(max(1, line.values.count - 1))
    for (place, value) in line.values.enumerated() {
      guard let value, value.isFinite else {
        isOpen = false
        continue
      }
      let share = largest > 0 ? value / largest : 0
      let x = Int(Double(place) * step)
      let y = Self.top + Int((1 - share) * Double(Self.height))
      if isOpen { runs[runs.count - 1].append((x, y)) } else { runs.append([(max(0, x - 2), y), (x, y)]) }
      isOpen = true
    }
    return runs
  }
}

extension Int64 {
  /// The nearest whole number that fits.
  fileprivate init(clamping number: Double) { self = Int64(exactly: number.rounded()) ?? (number < 0 ? .min : .max) }
}
