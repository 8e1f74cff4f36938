import CSQLiteFaults

/// One failing call of SQLite: the Nth of its kind, and perhaps all later ones.
struct Fault: Sendable, CustomStringConvertible {
  /// A kind of call with the way in which it fails, such as `write:ENOSPC`.
  struct Call: Sendable, Hashable, CustomStringConvertible {
    fileprivate let number: Int32

    static let all = (0..<lade_faults_kinds()).map { Call(number: $0) }
    static let memory = all.first { $0.description == "malloc" }

    var description: String { String(cString: lade_faults_name(number)) }

    /// How many there were since the calls were counted.
    var count: Int { lade_faults_count(number) }
  }

  let call: Call
  /// From 1.
  let number: Int
  /// Whether all later ones fail, too.
  let isLasting: Bool

  var description: String { "\(call) \(number) \(isLasting ? "and all later ones" : "once")" }

  /// Lets it happen from now on.
  func arm() { lade_faults_arm(call.number, number, isLasting ? 1 : 0) }

  /// Counts calls, without a fault.
  static func count() { lade_faults_arm(-1, 0, 0) }

  static func disarm() { lade_faults_disarm() }

  /// Whether a call has failed since the fault was armed.
  static var wasHit: Bool { lade_faults_hits() > 0 }
}
