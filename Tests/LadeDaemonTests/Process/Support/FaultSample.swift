import Foundation

/// How many faults the tests try: a small sample, unless `LADE_FAULTS` in the environment is a number, or `all`.
enum FaultSample {
  private static let environment = ProcessInfo.processInfo.environment
  private static let number = environment["LADE_FAULTS"].flatMap(Int.init)

  static let isAll = environment["LADE_FAULTS"] == "all"
  /// Whether a number was given, or all are wanted.
  static let isLarge = isAll || number != nil

  /// Chooses the sample. Another one is chosen with another `LADE_FAULT_SEED` in the environment.
  static let seed = environment["LADE_FAULT_SEED"].flatMap(UInt64.init) ?? 1

  /// - Parameter usual: how many there are unless a number was given.
  /// - Returns: nil for all.
  static func size(_ usual: Int) -> Int? { isAll ? nil : number ?? usual }

  /// Tells how many there were, for the page of `make nightly`: by the hundred, so that a run that is stopped has told most of
  /// them.
  struct Tally {
    private let words: String
    private var count = 0

    /// - Parameter words: what follows the number: `calls failed`.
    init(_ words: String) { self.words = words }

    mutating func add() {
      count += 1
      if count == 100 { tell() }
    }

    mutating func tell() {
      if count > 0 { print("faults: \(count) \(words)") }
      count = 0
    }
  }
}
