import Synchronization

/// The jobs that have changed since an event stream has said so last.
final class ChangedJobs: Sendable {
  /// How many are named.
  private static let most = 100

  private let numbers = Mutex<Set<Int64>>([])

  func insert(_ job: Int64) {
    numbers.withLock { numbers in
      // One more than are named says that there are many.
      if numbers.count <= Self.most { numbers.insert(job) }
    }
  }

  /// Those since the last call, as JSON: `{"jobs":["7","12"]}`, or `{}` where there are too many to name. A script's numbers
  /// have 53 bits, so these are texts.
  func take() -> String {
    let numbers = numbers.withLock { numbers in
      defer { numbers.removeAll() }
      return numbers
    }
    guard numbers.count <= Self.most else { return "{}" }
    return "{\"jobs\":[" + numbers.sorted().map { "\"\($0)\"" }.joined(separator: ",") + "]}"
  }
}
