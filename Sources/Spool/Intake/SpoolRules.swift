/// What the configuration may say about what is taken, besides how long is waited.
package struct SpoolRules: Sendable, Equatable {
  /// Endings of the names of files that aren't finished, besides the usual ones.
  package var partialSuffixes: [String] = []
  /// How many refused entries `corrupt/` may hold: what is refused beyond stays where it is, for each costs the daemon a
  /// `.reason` of its own.
  package var corruptLimit = 100_000

  /// No other endings; a hundred thousand entries.
  package init() {}
}
