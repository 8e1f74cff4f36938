/// How long a job that failed waits until it is tried again: twice as long each time.
package struct RetryConfiguration: Sendable, Equatable {
  /// After the first failure.
  package var first = Duration.seconds(10)
  /// At most, before it is spread.
  package var longest = Duration.seconds(3600)
  /// By how many percent it is longer or shorter, as chance has it.
  package var spread = 20

  package init() {}
}

extension RetryConfiguration {
  enum Key: String, CaseIterable {
    case first, longest, spread
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    let allowed: ClosedRange<Duration> = .milliseconds(100) ... .seconds(30 * 86_400)
    if let first = section[.first]?.duration(allowed) { self.first = first }
    if let longest = section[.longest]?.duration(allowed) { self.longest = longest }
    if let spread = section[.spread]?.percent() { self.spread = spread }
    if longest < first { value.conflict("`longest` is shorter than `first`") }
  }
}

extension YAMLValue {
  /// A whole number of percent, as in `20%`.
  fileprivate func percent() -> Int? {
    guard let text = scalar("a share such as 20%") else { return nil }
    guard text.hasSuffix("%"), let number = Int(text.dropLast()), (0...100).contains(number) else {
      wrong("write a whole number from 0 to 100 and %, such as 20%")
      return nil
    }
    return number
  }
}
