/// How the operations of a kind share the data store that their job names.
public enum StoreAccess: String, Sendable, Hashable, Codable, CaseIterable {
  /// The job doesn't touch the store: it runs whatever runs there.
  case none
  /// It runs beside others, as imports do: each has its own context and saves.
  case shared
  /// It has the store to itself: it begins when nothing else runs there, and until it ends nothing else begins.
  case exclusive
}
