import ControlAPI
import ControlServer
import Glibc
import Jobs
import ManagedObjects

/// Who may do what over the control socket. Members of the socket's group may connect: they read everything, submit
/// imports and exports, and change their own jobs. Root, the daemon's user and the configuration's operators may do the
/// rest.
struct Permissions: Sendable {
  /// Kinds of jobs that everyone may submit.
  static let open: Set<String> = [ImportOperation.kind, "export"]

  private let operators: Set<UInt32>

  /// - Parameter operators: the numbers of the users that the configuration names.
  init(operators: Set<UInt32>) { self.operators = operators.union([0, geteuid()]) }

  func isOperator(_ user: UInt32) -> Bool { operators.contains(user) }

  /// - Throws: ``ControlError/forbidden(reason:hint:)``.
  func check(_ submission: JobSubmission, by peer: Peer) throws {
    guard !isOperator(peer.uid) else { return }
    guard Self.open.contains(submission.kind) else {
      throw ControlError.forbidden(
        reason: "You are user \(peer.uid), and only operators may submit jobs of the kind \(submission.kind).",
        hint: Self.hint)
    }
    // The submission plan reports a text that isn't a predicate.
    guard case .string(let format) = submission.options["where"],
      let predicate = try? FetchPredicate(format: format)
    else { return }
    try check(predicate, by: peer)
  }

  /// Keeps regular expressions to operators: on the right text, one can run without end, and it occupies a reader of the
  /// store.
  /// - Throws: ``ControlError/forbidden(reason:hint:)``.
  func check(_ predicate: FetchPredicate, by peer: Peer) throws {
    guard predicate.uses(.matches), !isOperator(peer.uid) else { return }
    throw ControlError.forbidden(
      reason: "You are user \(peer.uid), and only operators may use MATCHES.",
      hint: "Use LIKE, BEGINSWITH or CONTAINS. " + Self.hint)
  }

  /// - Throws: ``ControlError/forbidden(reason:hint:)``.
  func checkChange(of job: Int64, submittedBy submitter: String, by peer: Peer) throws {
    guard !isOperator(peer.uid), !Self.submitters(peer.uid).contains(submitter) else { return }
    throw ControlError.forbidden(
      reason: "Job \(job) was submitted by \(submitter), and you are user \(peer.uid).",
      hint: "Its submitter may change it, and operators. " + Self.hint)
  }

  /// - Parameter what: what only operators may do, as in “may pause lanes”.
  /// - Throws: ``ControlError/forbidden(reason:hint:)``.
  func checkOperator(_ peer: Peer, to what: String) throws {
    guard !isOperator(peer.uid) else { return }
    throw ControlError.forbidden(
      reason: "You are user \(peer.uid), and only operators may \(what).", hint: Self.hint)
  }

  /// How a job's `submittedBy` names a user: who asked over the socket, and who put a file into the spool.
  static func submitters(_ user: UInt32) -> [String] { ["user \(user)", "spool (user \(user))"] }

  private static let hint =
    "Operators are root, the daemon's user, and those that its configuration names under operators."
}
