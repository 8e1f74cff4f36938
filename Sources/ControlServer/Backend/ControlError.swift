package import ControlAPI
import LadeTypes

/// Why a request is refused: what the client did, or what it can do about it.
package enum ControlError: Error, Sendable, Hashable {
  case noSuchJob(Int64)
  case noSuchBatch(Int64)
  case noSuchReject(Int64, of: Int64)
  case noSuchLane(String, known: [String])
  case noSuchStore(String, known: [String])
  case noSuchEntity(String, known: [String])
  case noSuchRecipe(String, known: [String])
  case noSuchSchedule(String, known: [String])
  case noSuchUpload(Int64)
  case noSuchObject(Int64, of: String, store: String)
  /// Something in the request isn't what it should be.
  case invalid(field: String, reason: String, hint: String? = nil)
  /// The daemon can't open a file that it was told to read.
  case unreachableSource(reason: String, hint: String? = nil)
  /// A query has taken its time and was ended. `key` is that of the limit in the configuration.
  case timeLimit(Duration, key: String)
  /// A predicate, sort or list of columns is more than a store can take in one query.
  case tooComplex(reason: String)
  /// The peer may not do this.
  case forbidden(reason: String, hint: String? = nil)
  /// Not in this state, such as cancelling a job that has ended.
  case conflict(reason: String, hint: String? = nil)
  /// The configuration has these mistakes, each with its place, and nothing has changed.
  case badConfiguration([String])
  /// A user, or all of them, have as many connections as they can have. `whose` begins the sentence that says so.
  case tooManyConnections(_ whose: String, isOwn: Bool)
  /// Not now: the daemon starts, stops or has no room.
  case unavailable(reason: String, hint: String? = nil)

  /// The error as the client sees it.
  package var problem: Problem {
    switch self {
    case .noSuchJob(let id):
      Problem(
        status: 404, code: "no_such_job", title: "No such job", detail: "There is no job \(id).",
        hint: "'ladectl list' shows the jobs.")
    case .noSuchBatch(let id):
      Problem(
        status: 404, code: "no_such_batch", title: "No such batch", detail: "There is no batch \(id).",
        hint: "A batch is removed with the last of its jobs.")
    case .noSuchReject(let number, let job):
      Problem(
        status: 404, code: "no_such_reject", title: "No such reject", detail: "Job \(job) has no reject \(number).",
        hint: "'ladectl rejects \(job)' shows the rejects.")
    case .noSuchLane(let name, let known):
      missing("lane", name, known)
    case .noSuchStore(let name, let known):
      missing("store", name, known)
    case .noSuchEntity(let name, let known):
      missing("entity", name, known)
    case .noSuchRecipe(let name, let known):
      missing("recipe", name, known)
    case .noSuchSchedule(let name, let known):
      missing("schedule", name, known)
    case .noSuchObject(let number, let entity, let store):
      Problem(
        status: 404, code: "no_such_object", title: "No such object",
        detail: "\(store) has no \(entity) with the number \(number).", hint: "It may have been deleted.")
    case .noSuchUpload(let id):
      Problem(
        status: 404, code: "no_such_upload", title: "No such upload",
        detail: "There is no upload \(id) of yours: it was imported, removed, or is too old.")
    case .invalid(let field, let reason, let hint):
      Problem(
        status: 422, code: "invalid_request", title: "The request can't be carried out",
        detail: "\(field): \(reason)", hint: hint)
    case .unreachableSource(let reason, let hint):
      Problem(
        status: 422, code: Problem.unreachableSource, title: "The file can't be opened", detail: "source: \(reason)",
        hint: hint)
    case .timeLimit(let limit, let key):
      Problem(
        status: 422, code: "time_limit", title: "The query takes too long",
        detail: "It was ended after \(limit.text), the limit of such queries.",
        hint: "Narrow it by where, or compare attributes that have an index. The configuration has the limit: \(key).")
    case .tooComplex(let reason):
      Problem(
        status: 422, code: "query_too_complex", title: "The query is too complex",
        detail: "It is more than SQLite can take in one query: \(reason).",
        hint: "Ask with fewer conditions, sort keys or columns, in several queries.")
    case .forbidden(let reason, let hint):
      Problem(status: 403, code: "forbidden", title: "Not allowed", detail: reason, hint: hint)
    case .conflict(let reason, let hint):
      Problem(status: 409, code: "conflict", title: "Not in this state", detail: reason, hint: hint)
    case .badConfiguration(let mistakes):
      Problem(
        status: 422, code: "bad_configuration", title: "The configuration has mistakes",
        detail: (["The configuration has mistakes, and nothing has changed:"] + mistakes).joined(separator: "\n"))
    case .tooManyConnections(let whose, let isOwn):
      Problem(
        status: isOwn ? 429 : 503, code: "too_many_connections", title: "Too many connections",
        detail: "\(whose), as many as \(isOwn ? "one user" : "they") can have.",
        hint: isOwn
          ? "Close some: each program that follows jobs, the log or a query holds one."
          : "Try again in a moment. An operator can end clients that hold connections, or raise LimitNOFILE= of the service."
      )
    case .unavailable(let reason, let hint):
      Problem(status: 503, code: "unavailable", title: "Not now", detail: reason, hint: hint)
    }
  }

  /// What there is instead of something that isn't there, beginning with what was probably meant.
  package static func inventory(_ known: [String], insteadOf name: String? = nil) -> String {
    let meant = name.flatMap { NearestName.of($0, among: known) }.map { "Did you mean \($0)? " } ?? ""
    return switch known.count {
    case 0: "The configuration has none."
    case 1: meant + "There is only \(known[0])."
    default: meant + "There are \(known.sorted().joined(separator: ", "))."
    }
  }

  private func missing(_ kind: String, _ name: String, _ known: [String]) -> Problem {
    Problem(
      status: 404, code: "no_such_\(kind)", title: "No such \(kind)",
      detail: "There is no \(kind) '\(name)'.",
      hint: Self.inventory(known, insteadOf: name))
  }
}
