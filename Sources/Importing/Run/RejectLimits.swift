/// How many records of an import may be rejected before it fails.
struct RejectLimits {
  /// A share means something only once there are this many records, or at the end.
  private static let fewestForShare = 1_000
  private let count: Int?
  private let share: Double?

  init(_ options: ImportOptions) {
    count = options.rejectLimit
    share = options.rejectShare
  }

  /// Fails when the counts exceed a limit.
  ///
  /// - Parameters:
  ///   - first: the first rejection, for the error's text.
  ///   - atEnd: whether all records have been read, so that even a few are enough to judge the share.
  func check(_ counts: ImportCounts, first: String, atEnd: Bool) throws(MappingError) {
    if let count, counts.rejected > count {
      throw .tooManyRejects(count: counts.rejected, limit: count, first: first)
    }
    if let share, atEnd || counts.records >= Self.fewestForShare,
      Double(counts.rejected) > share * Double(counts.records)
    {
      throw .tooLargeShareRejected(count: counts.rejected, records: counts.records, share: share, first: first)
    }
  }
}
