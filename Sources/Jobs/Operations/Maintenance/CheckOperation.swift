package import ManagedObjects

/// Looks for damage in a data store: kind `check`. A store that has some ends the job `discarded`, with the code `damaged`,
/// the first problems in its reason and all of them in the daemon's folder of reports.
///
/// Imports continue: each half checks one state of the store. With `repair` it repairs what is safe to repair, see
/// ``ObjectGraphCheck``; if nothing else is wrong, the job is `completed`.
package final class CheckOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "check"
  package override class var access: StoreAccess { .shared }

  /// The parts, in this order. What one repairs isn't reported by the next.
  static func parts(_ options: Options) -> [any CheckPart.Type] {
    options.repair ? [ObjectsCheckPart.self, FileCheckPart.self] : [FileCheckPart.self, ObjectsCheckPart.self]
  }

  /// The options of a submission.
  package struct Options: OperationOptions, Equatable {
    /// How thoroughly the file is checked: `quick` doesn't compare indexes with their rows; `full` does.
    package var depth: CheckDepth
    /// Whether the object graph is checked: validation, uniqueness, inverses, references.
    package var objects: Bool
    /// Whether the object graph is repaired where that is safe.
    package var repair: Bool

    package enum CodingKeys: String, CodingKey, CaseIterable { case depth, objects, repair }

    package init(depth: CheckDepth = .full, objects: Bool = true, repair: Bool = false) {
      self.depth = depth
      self.objects = objects
      self.repair = repair
    }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      depth = try values.decodeWord(CheckDepth.self, forKey: .depth) ?? .full
      objects = try values.flag(.objects) ?? true
      repair = try values.flag(.repair) ?? false
    }
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try Options.read(submission)
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let store = try maintainedStore()
    guard let folder = environment.reportsDirectory else {
      throw JobFailure(code: "not_configured", message: "nothing says where reports go", isRetryable: false)
    }
    let report = CheckReport(of: job.id, in: folder)
    return try watched { watch in
      do {
        for part in Self.parts(options) where part.isWanted(options) {
          try part.run(self, store, options, report, watch)
        }
      } catch is CheckReport.Full {
        // The report is long enough to act on.
      }
      let file = try report.publish()
      guard report.count > report.repaired else {
        return .completed(
          JobProgress(records: Int64(report.count)),
          note: report.count == 0
            ? "nothing is wrong" : "\(report.count) problems were found and put right: \(file?.path ?? "")")
      }
      throw JobFailure(code: "damaged", message: message(report, store.name, file?.path ?? ""), isRetryable: false)
    }
  }

  private func message(_ report: CheckReport, _ store: String, _ file: String) -> String {
    let all = report.count < CheckReport.limit ? "\(report.count)" : "at least \(report.count)"
    let more = report.count > report.first.count ? "; …" : ""
    return
      "\(store) has \(all) problem\(report.count == 1 ? "" : "s"): \(report.first.joined(separator: "; "))\(more). "
      + "All of them are in \(file)"
  }
}
