import ControlServer
import Synchronization

/// The uploads of which somebody is making a job, so that a button that is pressed twice makes one.
final class UploadClaims: Sendable {
  private struct Claim: Hashable {
    let user: UInt32
    let upload: Int64
  }

  private let claims = Mutex<Set<Claim>>([])

  /// Does something with an upload, unless that is going on already.
  /// - Throws: ``ControlError/conflict(reason:hint:)``, and what the body throws.
  func holding<Value: Sendable>(
    _ upload: Int64, of peer: Peer, _ body: () async throws -> Value
  ) async throws -> Value {
    let claim = Claim(user: peer.uid, upload: upload)
    guard claims.withLock({ $0.insert(claim).inserted }) else {
      throw ControlError.conflict(
        reason: "A job of upload \(upload) is being made.", hint: "It is in the list of jobs in a moment.")
    }
    defer { claims.withLock { _ = $0.remove(claim) } }
    return try await body()
  }
}
