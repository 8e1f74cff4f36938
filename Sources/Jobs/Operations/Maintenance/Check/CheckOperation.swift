package import ManagedObjects

/// Looks for damage in a data store: kind `check`. A store that has some ends the job `discarded`, with the code `damaged`,
/// the first problems in its reason and all of them in the daemon's folder of reports.
///
/// Imports go on beside it: it looks at one state of the store.
package final class CheckOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "check"
  package override class var access: StoreAccess { .shared }

  /// What is looked at, in this order.
  static var parts: [any CheckPart.Type] { [FileCheckPart.self] }

  /// What a submission may say.
  package struct Options: OperationOptions, Equatable {
    /// How closely the file is looked at: `quick` leaves out whether indexes agree with their rows; `full` does all.
    package var depth: CheckDepth

    package enum CodingKeys: String, CodingKey, CaseIterable { case depth }

    package init(depth: CheckDepth = .full) { self.depth = depth }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      depth = try values.decodeWord(CheckDepth.self, forKey: .depth) ?? .full
    }
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
        for part in Self.parts where part.isWanted(options) { try part.run(self, store, options, report, watch) }
      } catch is CheckReport.Full {
        // What is noted is enough to act on.
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
