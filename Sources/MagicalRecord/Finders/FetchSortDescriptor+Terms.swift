public import ManagedObjects

extension FetchSortDescriptor {
  /// What a sort term of MagicalRecord stands for: attributes with commas between them, each of which may say its
  /// direction as `:YES` or `:NO`.
  /// - Throws: ``MagicalRecordError/sortTerm(_:)``.
  static func list(_ term: String, ascending: Bool) throws -> [FetchSortDescriptor] {
    try term.split(separator: ",", omittingEmptySubsequences: false).map { part in
      let words = part.split(separator: ":", omittingEmptySubsequences: false).map {
        String($0.filter { !$0.isWhitespace })
      }
      guard let name = words.first, !name.isEmpty, words.count <= 2 else { throw MagicalRecordError.sortTerm(term) }
      guard words.count == 2 else { return FetchSortDescriptor(name, ascending: ascending) }
      switch words[1].uppercased() {
      case "YES", "TRUE", "1": return FetchSortDescriptor(name, ascending: true)
      case "NO", "FALSE", "0": return FetchSortDescriptor(name, ascending: false)
      default: throw MagicalRecordError.sortTerm(term)
      }
    }
  }
}

extension MagicalEntity {
  /// Descriptors that sort by attributes, all of them upwards or downwards. An attribute may say its direction as in a sort
  /// term: `"age:NO"`.
  /// Source: `MR_sortAscending:attributes:`, `MR_ascendingSortDescriptors:`, `MR_descendingSortDescriptors:`.
  /// - Throws: ``MagicalRecordError/sortTerm(_:)``.
  public static func sortAscending(_ ascending: Bool, attributes: [String]) throws -> [FetchSortDescriptor] {
    try attributes.flatMap { try FetchSortDescriptor.list($0, ascending: ascending) }
  }
}
