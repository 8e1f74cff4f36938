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

  /// Fails when records were rejected and none was taken in, unless the options name a share, by which it was judged.
  func checkTaken(_ counts: ImportCounts, first: String) throws(MappingError) {
    guard share == nil, counts.rejected > 0, counts.taken == 0, counts.skipped == 0 else { return }
    throw .nothingImported(records: counts.records, rejected: counts.rejected, first: first)
  }
}
