/// The version of this source, which daemon and ladectl share.
package enum LadeVersion {
  /// `MAJOR.MINOR.PATCH`.
  package static let current = "0.1.0"
  /// The `Server` header of the daemon's answers, so that a client can say whom it didn't understand.
  package static let serverHeader = "laded/" + current
}
