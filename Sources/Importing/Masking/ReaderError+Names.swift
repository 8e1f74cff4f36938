extension ReaderError {
  /// The same failure without names that the file itself gives: where values are masked, they may be such values.
  var withoutNames: ReaderError {
    func covered(_ names: [String]) -> [String] { names.map { _ in ValueMask.redaction } }
    return switch self {
    case .duplicateColumn: .duplicateColumn(name: ValueMask.redaction)
    case .rootNotFound(let path, let found): .rootNotFound(path: path, found: covered(found))
    case .severalRoots(let found): .severalRoots(found: covered(found))
    case .severalRecords(let found): .severalRecords(found: covered(found))
    default: self
    }
  }
}
