package import ControlAPI
package import ControlServer
package import LadeTypes
import Synchronization

/// The rejects of the test's jobs. All have the same: an example, and those that the test puts beside it.
package final class MemoryRejects: Sendable {
  private struct State {
    var rejects: [Int64: Reject] = [
      1: Reject(
        number: 1, line: 7, column: "age", code: "not_a_number", message: "“x” isn't a number", record: "1,x",
        recordBytes: 3, cell: .init(offset: 2, length: 1))
    ]
    var check: RejectCheck?
    var refusal: ControlError?
    var requests: [RejectRetryRequest] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// What was to be checked or retried.
  package var requests: [RejectRetryRequest] { state.withLock { $0.requests } }

  /// Puts a reject, new or in place of the one with its number.
  package func put(_ reject: Reject) { state.withLock { $0.rejects[reject.number] = reject } }

  /// What a check says from now on.
  package func answer(_ check: RejectCheck) { state.withLock { $0.check = check } }

  /// What checks and retries are refused with from now on.
  package func refuse(_ refusal: ControlError?) { state.withLock { $0.refusal = refusal } }

  /// All, by number.
  var all: [Reject] { state.withLock { $0.rejects.values.sorted { $0.number < $1.number } } }

  var check: RejectCheck? { state.withLock { $0.check } }

  /// - Throws: the refusal, if there is one.
  func note(_ request: RejectRetryRequest) throws {
    let refusal = state.withLock { state in
      state.requests.append(request)
      return state.refusal
    }
    if let refusal { throw refusal }
  }
}

extension MemoryBackend {
  package func rejects(_ id: Int64) async throws -> RejectReport {
    let job = try await job(id)
    guard let file = job.rejectsFile else { return RejectReport(job: id) }
    var example = RejectReport.Example(number: 1, line: 7, message: "“x” isn't a number", record: "1,x")
    example.resolvedBy = rejected.all.first { $0.number == 1 }?.resolvedBy
    var report = RejectReport(
      job: id, file: file, count: 1204,
      groups: [
        .init(code: "not_a_number", column: "age", count: 1203, examples: [example]),
        .init(code: "too_few_fields", column: "", count: 1, examples: []),
      ])
    let resolvers = Dictionary(grouping: rejected.all.compactMap(\.resolvedBy)) { $0 }
    report.resolved = resolvers.sorted { $0.key < $1.key }.map { .init(job: $0.key, count: Int64($0.value.count)) }
    report.open -= report.resolved.reduce(0) { $0 + $1.count }
    return report
  }

  package func reject(_ number: Int64, of id: Int64) async throws -> Reject {
    _ = try await job(id)
    guard let reject = rejected.all.first(where: { $0.number == number }) else {
      throw ControlError.noSuchReject(number, of: id)
    }
    return reject
  }

  package func rejectFile(_ id: Int64) async throws -> RejectFileContent {
    guard try await job(id).rejectsFile != nil else {
      throw ControlError.conflict(reason: "Job \(id) has rejected nothing.")
    }
    let parts = Mutex(["id,age\n", "1,x\n"][...])
    return RejectFileContent(name: "job-\(id) \"ä\".csv") { parts.withLock { $0.popFirst() }.map { Array($0.utf8) } }
  }

  package func openRejects(_ id: Int64, _ query: RejectQuery) async throws -> RejectPage {
    let attempt = try await job(id).attempt
    if let wanted = query.attempt, wanted != attempt {
      throw ControlError.conflict(reason: "Job \(id) was tried again since.")
    }
    let open = rejected.all.filter { $0.number > query.after && $0.resolvedBy == nil }
    let page = Array(open.prefix(query.limit))
    return RejectPage(
      rejects: page, attempt: attempt, columns: ["id", "age"], next: open.count > page.count ? page.last?.number : nil)
  }

  package func checkRejects(_ id: Int64, _ request: RejectRetryRequest, by peer: Peer) async throws -> RejectCheck {
    try rejected.note(request)
    if let check = rejected.check { return check }
    return RejectCheck(resolved: 0, rejects: [try await reject(1, of: id)])
  }

  package func retryRejects(_ id: Int64, _ request: RejectRetryRequest, by peer: Peer) async throws -> Job {
    try rejected.note(request)
    return try await submit(JobSubmission(recipe: "people"), by: peer)
  }
}
