import ControlAPI
import ControlServer
import Hummingbird

extension PageRoutes {
  /// What a job has rejected, and importing it again, corrected or as it is.
  func addRejectPages(to router: Router<ControlContext>) {
    page(router, "/jobs/{id}/rejects") { try await rejects($0) }
    router.get("/jobs/{id}/rejects/file") { request, context in
      let visit = try visit(request, context)
      try visit.query().refuseNames(otherThan: [])
      return try await backend.rejectFileAnswer(visit.job(), while: staysSignedIn(visit))
    }
    page(router, "/jobs/{id}/rejects/retry") { visit in
      try visit.query().refuseNames(otherThan: [])
      return .page(try await retryPage(visit).page)
    }
    change(router, "/jobs/{id}/rejects/retry") { try await retryAll($0) }
    page(router, "/jobs/{id}/rejects/{number}") { visit in
      try visit.query().refuseNames(otherThan: [])
      return .page(try await correctionPage(visit).page)
    }
    // Where a browser goes that opens the address of a form's answer.
    page(router, "/jobs/{id}/rejects/{number}/retry") { visit in
      try .redirect(.reject(visit.number("number"), of: visit.job()))
    }
    change(router, "/jobs/{id}/rejects/{number}/retry") { try await correct($0) }
  }

  /// The records that a job rejected.
  private func rejects(_ visit: Visit) async throws -> PageAnswer {
    let query = try visit.query()
    try query.refuseNames(otherThan: ["after", "attempt"])
    var rejects = RejectQuery()
    rejects.limit = RejectsPage.pageSize
    rejects.after = try query.integer("after", in: 0...Int64.max) ?? 0
    rejects.attempt = try query.integer("attempt", in: 0...Int64(Int32.max)).map(Int.init)
    let job = try await backend.job(visit.job())
    let report = try await backend.rejects(job.id)
    // Until the job has ended its reject file is being written.
    let open = job.state.isEnded && report.count > 0 ? try await backend.openRejects(job.id, rejects) : nil
    return .page(
      RejectsPage(
        job: job, report: report, open: open, after: rejects.after, isReadOnly: check.settings.isReadOnly
      ).page)
  }

  private func retryPage(_ visit: Visit) async throws -> RejectRetryPage {
    let job = try await backend.job(visit.job())
    return RejectRetryPage(
      job: job, report: try await backend.rejects(job.id), isReadOnly: check.settings.isReadOnly)
  }

  /// Imports all open rejects again.
  private func retryAll(_ visit: Visit) async throws -> PageAnswer {
    let id = try visit.job()
    log("retry the rejects of job \(id)", visit)
    do {
      return .redirect(.job(try await backend.retryRejects(id, RejectRetryRequest(), by: visit.peer).id))
    } catch let error as ControlError {
      var shown = try await retryPage(visit)
      shown.mistake = error.problem
      return .page(shown.page, .init(code: error.problem.status))
    }
  }

  private func correctionPage(_ visit: Visit) async throws -> RejectCorrectionPage {
    let number = try visit.number("number")
    guard number > 0 else {
      throw ControlError.invalid(field: "number", reason: "'\(number)' isn't a reject's number")
    }
    let job = try await backend.job(visit.job())
    let reject = try await backend.reject(number, of: job.id)
    var query = RejectQuery()
    // Read last, so that all is of one attempt.
    (query.after, query.limit, query.attempt) = (number, 1, job.attempt)
    let later = try await backend.openRejects(job.id, query)
    return RejectCorrectionPage(
      job: job, reject: reject, columns: later.columns, next: later.rejects.first?.number,
      isReadOnly: check.settings.isReadOnly)
  }

  /// Checks a reject, or imports it again, with what was typed in place of it.
  private func correct(_ visit: Visit) async throws -> PageAnswer {
    let form = try await visit.form()
    try form.refuseNames(otherThan: ["do", "record", "attempt"])
    guard let word = form["do"] else { throw QueryError.missing(name: "do") }
    guard let action = RejectAction(rawValue: word) else {
      let known = RejectAction.allCases.map(\.rawValue).joined(separator: ", ")
      throw QueryError.invalid(name: "do", value: word, expected: "one of " + known)
    }
    let attempt = try form.integer("attempt", in: 0...Int64(Int32.max)).map(Int.init)
    var shown = try await correctionPage(visit)
    shown.typed = form["record"]
    let (job, number) = (shown.job.id, shown.reject.number)
    if action == .retry { log("retry reject \(number) of job \(job)", visit) }
    do {
      let records = [RejectCorrection(number: number, record: try shown.correction())]
      switch action {
      case .check:
        let request = RejectRetryRequest(records: records, attempt: attempt, isDryRun: true)
        shown.outcome = .checked(
          try await visit.context.untilGone { try await backend.checkRejects(job, request, by: visit.peer) })
        return .page(shown.page)
      case .retry:
        let request = RejectRetryRequest(records: records, attempt: attempt)
        return .redirect(.job(try await backend.retryRejects(job, request, by: visit.peer).id))
      }
    } catch let error as ControlError {
      // What was typed is worth more than a page of its own.
      shown.outcome = .refused(error.problem)
      return .page(shown.page, .init(code: error.problem.status))
    }
  }
}

/// What the form of a reject can be sent for. The raw values are in the form.
enum RejectAction: String, Sendable, CaseIterable {
  case check, retry

  var title: String {
    switch self {
    case .check: "Check"
    case .retry: "Import it again"
    }
  }
}
