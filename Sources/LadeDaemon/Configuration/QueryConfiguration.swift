/// How long queries may take: the section `queries` of a configuration.
package struct QueryConfiguration: Sendable, Equatable {
  /// Over the control socket, of members of its group; of standing queries, each examination of what was saved.
  package var members = Duration.seconds(30)
  /// Over the control socket, of operators.
  package var operators = Duration.seconds(600)
  /// Of an export, from one record to the next.
  package var exports = Duration.seconds(600)

  package init() {}
}

extension QueryConfiguration {
  enum Key: String, CaseIterable {
    case members, operators, exports
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    let allowed: ClosedRange<Duration> = .milliseconds(100) ... .seconds(86_400)
    if let members = section[.members]?.duration(allowed) { self.members = members }
    if let operators = section[.operators]?.duration(allowed) { self.operators = operators }
    if let exports = section[.exports]?.duration(allowed) { self.exports = exports }
  }
}
