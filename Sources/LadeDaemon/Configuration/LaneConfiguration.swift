/// A lane: jobs that share a queue of their own.
package struct LaneConfiguration: Sendable, Equatable {
  /// The lane of jobs that name none.
  package static let defaultName = "import"
  /// The lane of jobs that look after stores.
  package static let maintenanceName = "maintenance"

  package var name = LaneConfiguration.defaultName
  /// How many of its jobs run at a time, from 1 to 64.
  package var concurrency = 1
  /// How many of its jobs may begin in how long; nil for any number.
  package var rate: Rate?

  /// How many jobs may begin in how long.
  package struct Rate: Sendable, Equatable {
    package var jobs: Int
    package var per: Duration

    package init(jobs: Int, per: Duration) {
      self.jobs = jobs
      self.per = per
    }
  }

  package init() {}

  /// A lane of the default concurrency.
  init(named name: String) { self.name = name }
}

extension LaneConfiguration {
  enum Key: String, CaseIterable {
    case concurrency, rate
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value) else { return nil }
    self.init()
    name = entry.name
    if let concurrency = section[.concurrency]?.integer(1...64) { self.concurrency = concurrency }
    if let rate = section[.rate] { self.rate = Rate(rate) }
    guard isNamedWell else { return nil }
  }
}

extension LaneConfiguration.Rate {
  enum Key: String, CaseIterable {
    case jobs, per
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    let jobs = section.required(.jobs, "how many jobs may begin, such as 10")?.integer(1...1_000_000)
    let per = section.required(.per, "in how long, such as 1h")?.duration(.seconds(1) ... .seconds(30 * 86_400))
    guard let jobs, let per else { return nil }
    self.init(jobs: jobs, per: per)
  }
}
