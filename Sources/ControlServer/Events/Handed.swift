import Synchronization

/// A value that is handed to the first who takes it, and kept by nobody else: a stream ends for its source when its reader
/// lets go of it, whatever still holds the reader.
final class Handed<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: Value) { self.value = Mutex(value) }

  func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
