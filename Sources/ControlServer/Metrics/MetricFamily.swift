/// Everything that is measured under one name, with what it means.
package struct MetricFamily: Sendable, Equatable {
  package enum Kind: String, Sendable { case counter, gauge, histogram }

  struct Label: Sendable, Equatable {
    let name: String
    let value: String
  }

  struct Sample: Sendable, Equatable {
    /// What follows the family's name: nothing, or `_bucket`, `_sum` and `_count` of a histogram.
    var suffix = ""
    let labels: [Label]
    let value: Double
  }

  package let kind: Kind
  package let name: String
  package let help: String
  private(set) var samples: [Sample] = []

  /// A family without samples.
  /// - Parameter name: letters, digits and `_`; with its unit at the end (`_seconds`, `_bytes`), and of a counter `_total`
  ///   behind that.
  package init(_ kind: Kind, _ name: String, _ help: String) {
    self.kind = kind
    self.name = name
    self.help = help
  }

  /// A family of one sample.
  package init(_ kind: Kind, _ name: String, _ help: String, value: some BinaryInteger) {
    self.init(kind, name, help)
    add(Double(value))
  }

  /// A family of one histogram.
  package init(_ name: String, _ help: String, _ histogram: Histogram) {
    self.init(.histogram, name, help)
    add(histogram)
  }

  package mutating func add(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
    samples.append(Sample(labels: Self.labels(labels), value: value))
  }

  package mutating func add(_ value: some BinaryInteger, _ labels: KeyValuePairs<String, String> = [:]) {
    add(Double(value), labels)
  }

  package mutating func add(_ histogram: Histogram, _ labels: KeyValuePairs<String, String> = [:]) {
    let labels = Self.labels(labels)
    for (bound, count) in histogram.cumulative {
      let bucket = labels + [Label(name: "le", value: MetricsText.number(bound))]
      samples.append(Sample(suffix: "_bucket", labels: bucket, value: Double(count)))
    }
    samples.append(Sample(suffix: "_sum", labels: labels, value: histogram.sum))
    samples.append(Sample(suffix: "_count", labels: labels, value: Double(histogram.count)))
  }

  private static func labels(_ pairs: KeyValuePairs<String, String>) -> [Label] {
    pairs.map { Label(name: $0.key, value: $0.value) }
  }
}

/// Measurements in Prometheus's text format, version 0.0.4:
/// <https://prometheus.io/docs/instrumenting/exposition_formats/>.
package enum MetricsText {
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The families, each with its help and type before its samples. Those without samples are left out.
  package static func of(_ families: [MetricFamily]) -> String {
    var text = ""
    for family in families where !family.samples.isEmpty {
      text += "# HELP \(family.name) \(escaped(family.help, inQuotes: false))\n"
      text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
      for sample in family.samples {
        text += family.name + sample.suffix
        if !sample.labels.isEmpty {
          let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value, inQuotes: true))\"" }
          text += "{\(labels.joined(separator: ","))}"
        }
        text += " \(number(sample.value))\n"
      }
    }
    return text
  }

  static func number(_ value: Double) -> String {
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if value.isNaN { return "NaN" }
    // As Go and Swift write them they are the same, but for whole ones.
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func escaped(_ text: String, inQuotes: Bool) -> String {
    var escaped = String.UnicodeScalarView()
    // By scalars: a return and a line feed are one character.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
      case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
      case "\"" where inQuotes: escaped.append(contentsOf: "\\\"".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
