// What a query costs is counted here, and it is ended when it costs more than its allowance:
//
// 1. SQLite says every thousand steps of its machine, and own functions say before a call that may take long. It doesn't say
//    within a step, nor in a run of steps without a jump, which its limits bound (`SQLiteDatabase.limitLengths`).
// 2. What a row has cost is forgotten when it has come; what all have cost isn't.
// 3. The processor's time is looked at when the cheap clock says that some of it may be gone.

/// Counts what reading costs. Belongs to a connection, and so to one thread at a time.
final class SQLiteGuardian {
  /// Tables and views that may be read, in lower case.
  var readable: Set<String> = []
  var allowance: SQLiteAllowance
  /// What was too much, once something was.
  private(set) var refusal: SQLiteSourceError?
  private let meters: SQLiteMeters
  private let memoryBefore: Int64
  /// Steps of SQLite's machine since the last row, and of all.
  private var steps = 0
  private var allSteps = 0
  /// The same in nanoseconds of the processor.
  private var time = 0
  private var allTime = 0
  /// Whether a row has come since the last look: then what passed isn't the new one's.
  private var isNewRow = true
  private var lastElapsed = 0
  private var lastProcessor = 0

  /// Steps of SQLite's machine between two looks at how many there were, and at the clock.
  static let stepsALook = 1_000
  /// How much more all rows may cost than one.
  private static let rows = 100
  /// Nanoseconds between two looks at what costs more to be looked at.
  private static let pause = 10_000_000

  init(allowance: SQLiteAllowance, meters: SQLiteMeters) {
    self.allowance = allowance
    self.meters = meters
    memoryBefore = meters.memory()
    begin()
  }

  /// SQLite goes on, maybe on another thread than before.
  func begin() {
    lastElapsed = meters.elapsed()
    lastProcessor = meters.processor()
    isNewRow = true
  }

  /// SQLite waits: what is done meanwhile isn't its work.
  func end() { allTime += meters.processor() - lastProcessor }

  /// A row has come.
  func beginRow() {
    steps = 0
    isNewRow = true
  }

  /// Looks whether it was too much, after so many steps more.
  func look(steps more: Int) -> Bool {
    steps += more
    allSteps += more
    if steps > allowance.steps || allSteps > SQLiteAllowance.product(allowance.steps, Self.rows) {
      refusal = .tooMuchWork
    }
    let now = meters.elapsed()
    if now - lastElapsed >= Self.pause {
      lastElapsed = now
      lookAtTime()
      if meters.memory() - memoryBefore > allowance.memoryBytes {
        refusal = .tooMuchMemory(limit: allowance.memoryBytes)
      }
    }
    return refusal != nil
  }

  private func lookAtTime() {
    let now = meters.processor()
    let spent = now - lastProcessor
    lastProcessor = now
    allTime += spent
    time = isNewRow ? 0 : time + spent
    isNewRow = false
    if time > allowance.nanoseconds || allTime > SQLiteAllowance.product(allowance.nanoseconds, Self.rows) {
      refusal = .tooMuchWork
    }
  }
}
