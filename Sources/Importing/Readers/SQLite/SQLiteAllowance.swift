import CSQLite
import Glibc

/// How much reading a SQLite file may cost. Whoever hands in a file may write its query as well; no honest one comes near.
struct SQLiteAllowance {
  /// Steps of SQLite's machine for one row, and a hundred times that for all.
  var steps: Int
  /// Nanoseconds of the processor for one row, and a hundred times that for all.
  var nanoseconds: Int
  /// Bytes that temporary files may hold, all together.
  var temporaryBytes: Int64
  /// Bytes by which SQLite's memory may grow, that of the whole process.
  var memoryBytes: Int64

  /// A row may be the whole table, grouped or sorted: so the allowance is for that.
  private static let fewSteps = 100_000_000
  private static let stepsAByte = 64
  /// An honest step takes 10 to 50 ns, so that this is what five to twenty times slower a machine needs for all its steps:
  /// 25 seconds for a row of a small file, 17 for each MiB of a large one. It is time of the processor for this thread
  /// alone: how many others run, and how slow the disk is, make no difference.
  private static let nanosecondsAStep = 250
  /// Sorting a table takes its size, and on the way a half more; a join may be larger than the file.
  private static let temporaryTimes: Int64 = 4
  private static let fewTemporaryBytes: Int64 = 256 << 20
  /// A sort takes 4 MiB (and 16 where pages are of 64 KiB), the cache of the file 4, and each value being made its length.
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

  /// The product, or the greatest number there is.
  static func product(_ one: Int, _ other: Int) -> Int {
    let (product, overflows) = one.multipliedReportingOverflow(by: other)
    return overflows ? .max : product
  }
}

/// What the cost of reading is measured by.
struct SQLiteMeters {
  /// Nanoseconds of a clock that is cheap to look at.
  var elapsed: () -> Int = { SQLiteMeters.read(CLOCK_MONOTONIC) }
  /// Nanoseconds that the processor has spent on this thread. A call of the system.
  var processor: () -> Int = { SQLiteMeters.read(CLOCK_THREAD_CPUTIME_ID) }
  /// Bytes of memory that SQLite has.
  var memory: () -> Int64 = { sqlite3_memory_used() }

  private static func read(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
