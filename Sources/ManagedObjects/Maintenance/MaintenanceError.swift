/// Why a store's upkeep can't be done.
package enum MaintenanceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The store is of a kind that needs none, or can't be told to.
  case unsupported(store: String)
  /// Pages of the file can only be freed all at once.
  case notIncremental(path: String)

  /// What can't be, and what to do.
  package var description: String {
    switch self {
    case .unsupported(let store): return "\(store) has no upkeep of this kind: only stores in files do"
    case .notIncremental(let path):
      return
        "\(path) can't free pages a few at a time yet: vacuum it once as a whole, and say there that it is to be so from "
        + "then on (prepare_incremental)"
    }
  }
}
