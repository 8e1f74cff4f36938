/// The version of this source, which daemon and ladectl share.
package enum LadeVersion {
  /// `MAJOR.MINOR.PATCH`.
  package static let current = "0.1.0"
  /// The `Server` header of the daemon's answers, so that a client can say whom it didn't understand.
  package static let serverHeader = "laded/" + current
  /// The header of requests and answers that says the version of who sends it. In requests it may be missing; then the
  /// one in `User-Agent: ladectl/MAJOR.MINOR.PATCH` counts, if there is one.
  package static let header = "Lade-Version"

  /// The first number of a version; nil for what isn't one.
  package static func major(of version: some StringProtocol) -> Int? {
    version.split(separator: ".").first.flatMap { Int($0) }
  }
}
