import ManagedObjects

extension BatchWriter {
  /// Applies the records that were set aside, now that all that the file has is there, and rejects what can't be.
  ///
  /// - Parameter told: is called after each save.
  /// - Returns: false when `shouldStop` said so before the end.
  func settleAside(shouldStop: () -> Bool, told: () throws -> Void) throws -> Bool {
    guard try hasAside ?? !aside.isEmpty() else { return true }
    var options = options
    // They were looked at when the records came; one alone may be of use only beside others.
    options.unknownColumns = .ignore
    for phase in [RowApplier.Phase.atTheEnd, .atLast] {
      var isNew = true
      while isNew {
        isNew = false
        var last: Int64 = -1
        while true {
          if shouldStop() { return false }
          context.reset()
          let records = try aside.next(after: last)
          guard let end = records.last?.kept.record else { break }
          last = end
          let columns = Set(records.flatMap(\.columns)).sorted()
          let mapping = try RecordMapping(entity, columns: columns, options: options, mayNest: true)
          if try apply(try ConvertedBatch(records, of: mapping, mode: mode), phase) {
            isNew = true
            try told()
          }
        }
      }
    }
    hasAside = false
    return true
  }
}
