import Synchronization

/// What a context is known by: a number that no other ever has, unlike its address, which the next one may get.
struct ContextIdentity: Sendable, Hashable {
  private static let latest = Atomic<UInt64>(0)
  private let number = Self.latest.add(1, ordering: .relaxed).newValue
}
