/// What is going wrong just now, so that each failure is told once and not at every try, and its end, too. It holds at most
/// so many places: of what is more only the number is known.
struct FailureLog {
  private struct Failure {
    var text: String
    var pass: Int
  }

  static let limit = 256
  private var failures: [String: Failure] = [:]
  private var pass = 0
  private var isFull = false

  enum News: Equatable {
    /// Not told yet.
    case new
    /// The first for which there is no room: it and those that follow aren't told any more.
    case tooMany
    case old
  }

  /// Notes a failure of something at a place.
  mutating func note(_ text: String, at place: String) -> News {
    if let known = failures[place] {
      failures[place]?.pass = pass
      failures[place]?.text = text
      return known.text == text ? .old : .new
    }
    guard failures.count < FailureLog.limit else {
      defer { isFull = true }
      return isFull ? .old : .tooMany
    }
    failures[place] = Failure(text: text, pass: pass)
    return .new
  }

  /// Whether something had failed at a place that has succeeded now.
  mutating func succeeded(at place: String) -> Bool {
    failures.isEmpty ? false : failures.removeValue(forKey: place) != nil
  }

  /// Begins a look at everything.
  mutating func beginPass() { pass += 1 }

  /// Ends one that looked at everything: what didn't fail in it isn't there any more.
  mutating func endPass() {
    guard !failures.isEmpty else { return }
    failures = failures.filter { $0.value.pass == pass }
    if failures.count < FailureLog.limit { isFull = false }
  }
}
