/// A text in Prometheus's format, read as strictly as its grammar and its conventions allow:
/// <https://prometheus.io/docs/instrumenting/exposition_formats/>, and what `promtool check metrics` finds fault with.
package struct PrometheusText: Sendable {
  package struct Sample: Sendable, Equatable {
    package let name: String
    package let labels: [String: String]
    package let value: Double
  }

  package struct Family: Sendable {
    package let name: String
    package let help: String
    package let type: String
    package internal(set) var samples: [Sample] = []
  }

  package struct Mistake: Error, CustomStringConvertible {
    package let description: String
  }

  package private(set) var families: [String: Family] = [:]

  /// - Throws: ``Mistake`` with the line that is wrong.
  package init(_ text: String) throws {
    guard text.hasSuffix("\n") else { throw Mistake(description: "the last line has no end") }
    var current: Family?
    var seen: Set<String> = []
    func finish() throws {
      guard let family = current else { return }
      try Self.check(family)
      families[family.name] = family
    }
    for line in text.unicodeScalars.split(separator: "\n").map({ String($0) }) {
      var words = Words(line)
      if line.hasPrefix("# HELP ") {
        try finish()
        words.skip("# HELP ")
        let name = try words.name()
        words.skip(" ")
        guard seen.insert(name).inserted else { throw Mistake(description: "\(name) is there twice: \(line)") }
        current = Family(name: name, help: try words.remainder(), type: "")
      } else if line.hasPrefix("# TYPE ") {
        words.skip("# TYPE ")
        let name = try words.name()
        words.skip(" ")
        guard let family = current, family.name == name, family.type.isEmpty else {
          throw Mistake(description: "a type without its help: \(line)")
        }
        current = Family(name: name, help: family.help, type: try words.remainder())
      } else {
        guard let family = current, !family.type.isEmpty else { throw Mistake(description: "no family: \(line)") }
        let sample = try words.sample()
        guard !family.samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
          throw Mistake(description: "it is there twice: \(line)")
        }
        current?.samples.append(sample)
      }
    }
    try finish()
  }

  /// The value of one sample, by its name and some of its labels; nil if there isn't just one.
  package func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    let found = families.values.flatMap(\.samples).filter { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }
    return found.count == 1 ? found[0].value : nil
  }

  private static func check(_ family: Family) throws {
    func mistake(_ what: String) -> Mistake { Mistake(description: "\(family.name): \(what)") }
    if family.help.isEmpty { throw mistake("it has no help") }
    if family.samples.isEmpty { throw mistake("it has no samples") }
    switch family.type {
    case "counter":
      if !family.name.hasSuffix("_total") { throw mistake("a counter's name ends with _total") }
      if family.samples.contains(where: { $0.value < 0 }) { throw mistake("a counter is less than nothing") }
      fallthrough
    case "gauge":
      if family.samples.contains(where: { $0.name != family.name }) { throw mistake("a sample has another name") }
      if family.type == "gauge", family.name.hasSuffix("_total") { throw mistake("a gauge's name ends with _total") }
    case "histogram": try checkHistogram(family)
    default: throw mistake("there is no type \(family.type)")
    }
  }

  private static func checkHistogram(_ family: Family) throws {
    func mistake(_ what: String) -> Mistake { Mistake(description: "\(family.name): \(what)") }
    func labels(_ sample: Sample) -> [String: String] { sample.labels.filter { $0.key != "le" } }
    for (labels, samples) in Dictionary(grouping: family.samples, by: labels) {
      let buckets = samples.filter { $0.name == family.name + "_bucket" }
      let bounds = try buckets.map { bucket in
        guard let text = bucket.labels["le"] else { throw mistake("a bucket has no bound") }
        return try Words.number(text)
      }
      let counts = buckets.map(\.value)
      guard samples.count == buckets.count + 2, let count = samples.first(where: { $0.name == family.name + "_count" }),
        samples.contains(where: { $0.name == family.name + "_sum" })
      else { throw mistake("\(labels): it takes buckets, a sum and a count") }
      guard bounds.last == .infinity, counts.last == count.value else {
        throw mistake("\(labels): +Inf isn't the count")
      }
      guard zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 }),
        zip(counts, counts.dropFirst()).allSatisfy({ $0 <= $1 })
      else { throw mistake("\(labels): buckets don't rise") }
    }
  }
}

/// Reads one line from its beginning.
private struct Words {
  private let line: String
  private var rest: Substring.UnicodeScalarView

  init(_ line: String) {
    self.line = line
    rest = line[...].unicodeScalars
  }

  private func mistake(_ what: String) -> PrometheusText.Mistake { .init(description: "\(what): \(line)") }

  mutating func skip(_ text: String) {
    if rest.starts(with: text.unicodeScalars) { rest.removeFirst(text.unicodeScalars.count) }
  }

  mutating func name(withColon: Bool = true) throws -> String {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_" + (withColon ? ":" : "")
    var name = String.UnicodeScalarView()
    while let scalar = rest.first,
      letters.unicodeScalars.contains(scalar) || (!name.isEmpty && "0123456789".unicodeScalars.contains(scalar))
    {
      name.append(scalar)
      rest.removeFirst()
    }
    guard !name.isEmpty else { throw mistake("there is no name") }
    return String(name)
  }

  /// What is left, with its escapes undone.
  mutating func remainder() throws -> String { try text(until: nil) }

  private mutating func text(until end: Unicode.Scalar?) throws -> String {
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      if scalar == end { return String(text) }
      guard scalar == "\\" else {
        text.append(scalar)
        continue
      }
      switch rest.popFirst() {
      case "\\": text.append("\\")
      case "n": text.append("\n")
      case "\"" where end != nil: text.append("\"")
      default: throw mistake("there is no such escape")
      }
    }
    guard end == nil else { throw mistake("a quote isn't closed") }
    return String(text)
  }

  mutating func sample() throws -> PrometheusText.Sample {
    let name = try name()
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest.removeFirst()
      repeat {
        skip(",")
        let label = try self.name(withColon: false)
        guard rest.starts(with: "=\"".unicodeScalars) else { throw mistake("a label has no value") }
        rest.removeFirst(2)
        guard labels.updateValue(try text(until: "\""), forKey: label) == nil else {
          throw mistake("a label is there twice")
        }
      } while rest.first == ","
      guard rest.popFirst() == "}" else { throw mistake("the labels aren't closed") }
    }
    guard rest.popFirst() == " " else { throw mistake("there is no space before the value") }
    return .init(name: name, labels: labels, value: try Self.number(String(rest)))
  }

  static func number(_ text: String) throws -> Double {
    switch text {
    case "+Inf": return .infinity
    case "-Inf": return -.infinity
    case "NaN": return .nan
    default:
      guard text.unicodeScalars.allSatisfy("0123456789+-.e".unicodeScalars.contains), let number = Double(text) else {
        throw PrometheusText.Mistake(description: "“\(text)” isn't a number")
      }
      return number
    }
  }
}
