import ManagedObjects
import Synchronization

/// The keys of an import's masks, each read once, when the first mask needs it.
final class MaskKeys: Sendable {
  private let credentials: MaskCredentials
  private let known = Mutex<[String: HMACSHA256]>([:])

  init(_ credentials: MaskCredentials) { self.credentials = credentials }

  /// The code by the key in a credential. Blocks.
  func hmac(_ credential: String) throws(MaskingError) -> HMACSHA256 {
    if let hmac = known.withLock({ $0[credential] }) { return hmac }
    let hmac = HMACSHA256(key: try credentials.key(credential))
    known.withLock { $0[credential] = hmac }
    return hmac
  }
}
