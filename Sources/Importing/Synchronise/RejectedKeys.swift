/// What rejected records are about. The source has their objects, though the records can't be imported as they are.
struct RejectedKeys {
  /// Their keys, with the place of the constraint in the mapping.
  private(set) var keys: [(place: Int, key: UniqueKey)] = []
  /// How many don't say which object they are about, and the line of the first.
  private(set) var unidentified: Int64 = 0
  private(set) var firstLine: Int64 = 0

  mutating func note(_ key: UniqueKey, _ place: Int) {
    // No object has a partial key.
    if !key.isPartial { keys.append((place, key)) }
  }

  mutating func noteUnidentified(line: Int64) {
    if unidentified == 0 || line < firstLine { firstLine = line }
    unidentified += 1
  }
}
