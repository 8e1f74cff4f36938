package import ManagedObjects

/// Returns space that a data store no longer uses to the file system: kind `vacuum`.
///
/// The job has the store to itself; readers continue. When it rewrites the whole file, a killed or stopped job has changed nothing
/// and starts again. When it frees a few pages at a time, freed pages stay freed.
package final class VacuumOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "vacuum"
  package override class var access: StoreAccess { .exclusive }

  /// The options of a submission.
  package struct Options: OperationOptions, Equatable {
    /// Whether free pages are returned a few at a time, instead of rewriting the file. `prepare_incremental` has to prepare
    /// the file for that once.
    package var incremental: Bool
    /// With `incremental`: the most pages to return; nil for all free pages.
    package var pages: Int?
    /// With `incremental`: how many pages each transaction returns.
    package var step: Int
    /// Without `incremental`: whether the file is one afterwards whose pages can be freed a few at a time, which costs every
    /// later write a little. nil leaves it as it is.
    package var prepareIncremental: Bool?

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case incremental, pages, step
      case prepareIncremental = "prepare_incremental"
    }

    package init(
      incremental: Bool = false, pages: Int? = nil, step: Int = 1000, prepareIncremental: Bool? = nil
    ) {
      self.incremental = incremental
      self.pages = pages
      self.step = step
      self.prepareIncremental = prepareIncremental
    }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      incremental = try values.decodeIfPresent(Bool.self, forKey: .incremental) ?? false
      pages = try values.decodeIfPresent(Int.self, forKey: .pages)
      step = try values.decodeIfPresent(Int.self, forKey: .step) ?? 1000
      prepareIncremental = try values.decodeIfPresent(Bool.self, forKey: .prepareIncremental)
    }

    fileprivate func plan() throws -> CompactionPlan {
      if let pages, pages < 1 { throw Self.bad("pages is \(pages): at least one page is given back") }
      guard (1...1_000_000).contains(step) else { throw Self.bad("step is \(step): it can be from 1 to 1000000") }
      if incremental {
        guard prepareIncremental == nil else {
          throw Self.bad("prepare_incremental goes with a vacuum of the whole file, not with incremental")
        }
        return .incremental(blocks: pages, atOnce: step)
      }
      guard pages == nil else { throw Self.bad("pages goes with incremental: a whole vacuum gives all of them back") }
      return .whole(isIncrementalAfterwards: prepareIncremental)
    }
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try Options.read(submission).plan()
  }

  package override func perform() throws -> JobOutcome {
    let plan = try Options.read(job.options).plan()
    let store = try maintainedStore()
    return try watched { watch in
      let result = try store.maintenance.compact(plan, watch)
      return .completed(
        JobProgress(bytesDone: result.bytesBefore, bytesTotal: result.bytesBefore),
        note: "\(Quantity.bytes(Double(result.bytesBefore))) before, \(Quantity.bytes(Double(result.bytesAfter))) now")
    }
  }
}
