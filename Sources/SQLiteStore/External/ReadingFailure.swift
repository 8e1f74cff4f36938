import Glibc
import ManagedObjects

/// Why a value of the rows that this thread is reading couldn't be read. The loop over a statement's rows throws it when it ends:
/// what reads a single value has no other way to fail, because most values can't.
enum ReadingFailure {
  private final class Box {
    let failure: StoreFailure

    init(_ failure: StoreFailure) { self.failure = failure }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { pointer in
      if let pointer { Unmanaged<Box>.fromOpaque(pointer).release() }
    }
    return key
  }()

  /// Keeps the first failure.
  static func note(_ failure: StoreFailure) {
    guard pthread_getspecific(key) == nil else { return }
    pthread_setspecific(key, Unmanaged.passRetained(Box(failure)).toOpaque())
  }

  /// Forgets a failure of an earlier statement, which ended in another way.
  static func forget() { _ = take() }

  /// - Throws: ``ManagedObjectError/store(_:)``.
  static func throwIfAny() throws {
    if let failure = take() { throw ManagedObjectError.store(failure) }
  }

  private static func take() -> StoreFailure? {
    guard let pointer = pthread_getspecific(key) else { return nil }
    pthread_setspecific(key, nil)
    return Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().failure
  }
}
