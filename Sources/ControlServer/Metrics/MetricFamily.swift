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
