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
