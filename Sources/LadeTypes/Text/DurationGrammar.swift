/// The grammar of durations, the same in tickets, the configuration and on command lines: a number and its unit, such as
/// `500ms`, `30s`, `1.5h`. The units are `ms`, `s`, `m`, `h` and `d`.
extension Duration {
  private static let units: [(name: String, length: Duration)] = [
    ("d", .seconds(86_400)), ("h", .seconds(3600)), ("m", .seconds(60)), ("s", .seconds(1)), ("ms", .milliseconds(1)),
  ]

  /// Reads a duration of at most nine digits before the point and three after it; nil for anything else.
  /// - Parameter allowsBareSeconds: whether a number without a unit is a number of seconds.
  package init?(parsing text: some StringProtocol, allowsBareSeconds: Bool = false) {
    let number = text.prefix { $0 == "." || ("0"..."9").contains($0) }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard let first = parts.first, parts.count <= 2, 1...9 ~= first.count, let whole = Int(first) else { return nil }
    let suffix = text.dropFirst(number.count)
    let unit = suffix.isEmpty && allowsBareSeconds ? "s" : String(suffix)
    guard let length = Self.units.first(where: { $0.name == unit })?.length else { return nil }
    self = length * whole
    guard parts.count == 2 else { return }
    guard 1...3 ~= parts[1].count, let fraction = Int(parts[1]) else { return nil }
    self += length * fraction / [10, 100, 1000][parts[1].count - 1]
  }

  /// The text in the grammar, in the largest of hours, minutes and seconds that divides it: `24h`, `90s`, `1500ms`.
  package var text: String {
    let units = Self.units.dropFirst().dropLast()
    let (seconds, attoseconds) = components
    guard attoseconds == 0, seconds != 0 else {
      return self == .zero ? "0s" : "\(Int64((self / .milliseconds(1)).rounded()))ms"
    }
    for unit in units where seconds.isMultiple(of: unit.length.components.seconds) {
      return "\(seconds / unit.length.components.seconds)\(unit.name)"
    }
    return "\(seconds)s"
  }

  /// The duration as a number of seconds.
  package var seconds: Double { self / .seconds(1) }
}
