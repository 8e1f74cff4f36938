/// A lane: jobs that share a queue of their own.
package struct LaneConfiguration: Sendable, Equatable {
  /// The lane of jobs that name none.
  package static let defaultName = "import"

  package var name = LaneConfiguration.defaultName
  /// How many of its jobs run at a time, from 1 to 64.
  package var concurrency = 1

  package init() {}
}

extension LaneConfiguration {
  enum Key: String, CaseIterable {
    case concurrency
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value) else { return nil }
    self.init()
    name = entry.name
    if let concurrency = section[.concurrency]?.integer(1...64) { self.concurrency = concurrency }
    guard isNamedWell else { return nil }
  }
}
