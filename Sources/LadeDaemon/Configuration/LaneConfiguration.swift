import LadeTypes

extension LaneConfiguration {
  enum Key: String, CaseIterable {
    case concurrency, rate
    case globalConcurrency = "global_concurrency"
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value) else { return nil }
    self.init(name: entry.name)
    if let concurrency = section[.concurrency]?.integer(LaneConfiguration.concurrencyRange) {
      self.concurrency = concurrency
    }
    if let most = section[.globalConcurrency]?.integer(1...10_000) { globalConcurrency = most }
    if let rate = section[.rate] { self.rate = RateLimit(rate) }
    guard isNamedWell else { return nil }
  }
}

extension RateLimit {
  enum Key: String, CaseIterable {
    case jobs, per
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    let jobs = section.required(.jobs, "how many jobs may begin, such as 10")?.integer(1...1_000_000)
    let per = section.required(.per, "in how long, such as 1h")?.duration(.seconds(1) ... .seconds(30 * 86_400))
    guard let jobs, let per else { return nil }
    self.init(jobs: jobs, period: per.seconds)
  }
}
