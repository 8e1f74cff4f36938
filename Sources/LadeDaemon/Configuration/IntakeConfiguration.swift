package import Spool

/// What is taken from the spool, and when: the section `intake` of a configuration.
package struct IntakeConfiguration: Sendable, Equatable {
  /// How long is waited for what. The interval of looks at everything is `rescan_interval`.
  package var timing = SpoolTiming()
  package var rules = SpoolRules()

  package init() {}
}

extension IntakeConfiguration {
  enum Key: String, CaseIterable {
    case settle, quiet
    case sourceGrace = "source_grace"
    case partialSuffixes = "partial_suffixes"
    case corruptLimit = "corrupt_limit"
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    let hour = Duration.seconds(3600)
    timing.settle = section[.settle]?.duration(.zero...hour) ?? timing.settle
    timing.quiet = section[.quiet]?.duration(.zero...hour) ?? timing.quiet
    timing.sourceGrace = section[.sourceGrace]?.duration(.zero...hour * 24) ?? timing.sourceGrace
    rules.corruptLimit = section[.corruptLimit]?.integer(1...100_000_000) ?? rules.corruptLimit
    for element in section[.partialSuffixes]?.elements(of: "endings of names") ?? [] {
      guard let ending = element.text() else { continue }
      if ending.contains("/") || ending.utf8.count > 32 || ".job".hasSuffix(ending) {
        element.wrong(
          "it is the end of a file's name, such as “.uploading”, of at most 32 bytes, and not of a ticket's")
      } else {
        rules.partialSuffixes.append(ending)
      }
    }
  }
}
