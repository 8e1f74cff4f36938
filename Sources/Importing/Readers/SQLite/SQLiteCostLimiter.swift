import CSQLite
import Glibc

// Counts the cost of a query, and interrupts it when the cost exceeds the limits:
//
// 1. SQLite reports every thousand steps of its machine, and our functions report before a call that may take long. Nothing is
//    reported within a step, nor in a run of steps without a jump, which its limits bound (`SQLiteDatabase.limitLengths`).
// 2. The cost of a row is reset when it has arrived; the total isn't.
// 3. The processor time is read only after the cheap clock shows that some of it may have passed.

/// Counts the cost of reading. Belongs to a connection, and so to one thread at a time.
final class SQLiteCostLimiter {
  /// Tables and views that may be read, in lower case.
  private var readable: Set<String> = []
  private var callable: Set<String> = []
  private var limits: SQLiteCostLimits
  /// The limit that was exceeded, if one was.
  private(set) var refusal: SQLiteSourceError?
  private let meters: SQLiteCostMeters
  private let memoryBefore: Int64
  /// Steps of SQLite's machine since the last row, and of all.
  private var steps = 0
  private var allSteps = 0
  /// The same in nanoseconds of processor time.
  private var time = 0
  private var allTime = 0
  /// Whether a row has arrived since the last check; the time since then isn't the new row's.
  private var isNewRow = true
  private var lastElapsed = 0
  private var lastProcessor = 0

  /// Steps of SQLite's machine between two checks of their number and of the clock.
  static let stepsPerCheck = 1_000
  /// The factor by which all rows may cost more than one.
  private static let rows = 100
  /// Nanoseconds between two readings of the expensive meters.
  private static let pause = 10_000_000

  init(limits: SQLiteCostLimits, meters: SQLiteCostMeters) {
    self.limits = limits
    self.meters = meters
    memoryBefore = meters.memory()
    begin()
  }

  /// Permits reading a table or view.
  func permit(_ table: String) { readable.insert(table.lowercased()) }

  /// Whether a table or view may be read.
  func permits(_ table: String) -> Bool { readable.contains(table) }

  /// Permits calling a function beside those that only compute.
  func permitFunction(_ name: String) { callable.insert(name) }

  /// Whether such a function may be called.
  func permitsFunction(_ name: String) -> Bool { callable.contains(name) }

  /// Limits the steps, without changing the other limits.
  func limit(steps: Int) { limits.steps = steps }

  /// Replaces the limits.
  func allow(_ limits: SQLiteCostLimits) { self.limits = limits }

  /// The bytes that temporary files may have.
  var temporaryLimit: Int64 { limits.temporaryBytes }

  /// SQLite continues, possibly on another thread than before.
  func begin() {
    lastElapsed = meters.elapsed()
    lastProcessor = meters.processor()
    isNewRow = true
  }

  /// SQLite pauses: time until `begin` isn't counted.
  func end() { allTime += meters.processor() - lastProcessor }

  /// A row has arrived.
  func beginRow() {
    steps = 0
    isNewRow = true
  }

  /// Checks the limits after this many further steps.
  func look(steps more: Int) -> Bool {
    steps += more
    allSteps += more
    if steps > limits.steps || allSteps > SQLiteCostLimits.product(limits.steps, Self.rows) {
      refusal = .tooMuchWork
    }
    let now = meters.elapsed()
    if now - lastElapsed >= Self.pause {
      lastElapsed = now
      lookAtTime()
      if meters.memory() - memoryBefore > limits.memoryBytes {
        refusal = .tooMuchMemory(limit: limits.memoryBytes)
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
    if time > limits.nanoseconds || allTime > SQLiteCostLimits.product(limits.nanoseconds, Self.rows) {
      refusal = .tooMuchWork
    }
  }
}

/// The cost allowed for reading a SQLite file. The person who submits a file may also write its query; honest ones stay far below.
struct SQLiteCostLimits {
  /// Steps of SQLite's machine for one row, and a hundred times that for all.
  var steps: Int
  /// Nanoseconds of the processor for one row, and a hundred times that for all.
  var nanoseconds: Int
  /// Bytes that temporary files may hold, all together.
  var temporaryBytes: Int64
  /// Bytes by which SQLite's memory may grow, that of the whole process.
  var memoryBytes: Int64

  /// A row may be the whole table, grouped or sorted, so that is allowed for.
  private static let fewSteps = 100_000_000
  private static let stepsAByte = 64
  /// An honest step takes 10 to 50 ns, so this suffices for all steps on a machine five to twenty times slower:
  /// 25 seconds for a row of a small file, 17 for each MiB of a large one. It is processor time of this thread
  /// alone: other threads and a slow disk make no difference.
  private static let nanosecondsAStep = 250
  /// Sorting a table takes its size, temporarily half as much again; a join may be larger than the file.
  private static let temporaryTimes: Int64 = 4
  private static let fewTemporaryBytes: Int64 = 256 << 20
  /// A sort takes 4 MiB (16 with pages of 64 KiB), the file's cache 4, and each value being computed its length.
  private static let fewMemoryBytes: Int64 = 256 << 20
  private static let values: Int64 = 16

  init(steps: Int, nanoseconds: Int, temporaryBytes: Int64, memoryBytes: Int64) {
    self.steps = steps
    self.nanoseconds = nanoseconds
    self.temporaryBytes = temporaryBytes
    self.memoryBytes = memoryBytes
  }

  init(fileSize: Int64, maximumRecordBytes: Int) {
    steps = max(Self.fewSteps, Self.product(Int(clamping: fileSize), Self.stepsAByte))
    nanoseconds = Self.product(steps, Self.nanosecondsAStep)
    temporaryBytes = Self.fewTemporaryBytes + min(fileSize, 1 << 50) * Self.temporaryTimes
    memoryBytes = Self.fewMemoryBytes + Int64(maximumRecordBytes) * Self.values
  }

  /// The product, or the greatest number on overflow.
  static func product(_ one: Int, _ other: Int) -> Int {
    let (product, overflows) = one.multipliedReportingOverflow(by: other)
    return overflows ? .max : product
  }
}

/// The meters of the cost of reading.
struct SQLiteCostMeters {
  /// Nanoseconds of a clock that is cheap to read.
  var elapsed: () -> Int = { SQLiteCostMeters.read(CLOCK_MONOTONIC) }
  /// Nanoseconds of processor time of this thread. A system call.
  var processor: () -> Int = { SQLiteCostMeters.read(CLOCK_THREAD_CPUTIME_ID) }
  /// Bytes of memory that SQLite has allocated.
  var memory: () -> Int64 = { sqlite3_memory_used() }

  private static func read(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
