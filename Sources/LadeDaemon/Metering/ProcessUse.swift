import ControlServer
import Foundation
import Glibc

/// What the process uses of the machine, as /proc says; 0 where that can't be read. To make one reads files of /proc.
struct ProcessUse: Sendable {
  /// Bytes of memory that are its own or shared, and present.
  let residentBytes: Int64
  /// Bytes of its address space.
  let virtualBytes: Int64
  let descriptors: Int
  /// How many it may have.
  let mostDescriptors: Int64
  /// Seconds that all its threads together have run.
  let processorTime: Double
  /// When it began, in seconds since 1970.
  let startTime: Double

  static func now() -> ProcessUse {
    let fields = statFields()
    // By proc_pid_stat(5), from the field behind the name: the third.
    func field(_ number: Int) -> Int64 { fields.count > number - 3 ? Int64(fields[number - 3]) ?? 0 : 0 }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var use = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &use)
    return ProcessUse(
      residentBytes: field(24) * Int64(sysconf(Int32(_SC_PAGESIZE))), virtualBytes: field(23),
      descriptors: openDescriptors(), mostDescriptors: Int64(clamping: limit.rlim_cur),
      processorTime: seconds(use.ru_utime) + seconds(use.ru_stime), startTime: startTime(ticks: field(22)))
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

  /// - Parameter ticks: since the machine was booted, as the kernel counts for /proc.
  private static func startTime(ticks: Int64) -> Double {
    var booted = timespec()
    clock_gettime(CLOCK_BOOTTIME, &booted)
    let age = Double(booted.tv_sec) + Double(booted.tv_nsec) / 1e9 - Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    return ((Date().timeIntervalSince1970 - age) * 100).rounded() / 100
  }

  private static func statFields() -> [Substring] {
    guard let file = fopen("/proc/self/stat", "re") else { return [] }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 1024)
    guard fgets(&line, Int32(line.count), file) != nil else { return [] }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The name is in brackets, and may have any character.
    guard let end = text.lastIndex(of: ")") else { return [] }
    return text[text.index(after: end)...].split(separator: " ")
  }

  private static func openDescriptors() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var descriptors = 0
    while let entry = readdir(folder) { if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { descriptors += 1 } }
    // But for that of the folder itself.
    return descriptors - 1
  }

  /// The same, under the names that Prometheus's own libraries have for it.
  var families: [MetricFamily] {
    var processor = MetricFamily(
      .counter, "process_cpu_seconds_total", "Seconds that the process's threads have run, in user and system mode.")
    processor.add(processorTime)
    var start = MetricFamily(
      .gauge, "process_start_time_seconds", "When the process began, in seconds since 1970 (UTC).")
    start.add(startTime)
    return [
      processor, start,
      MetricFamily(
        .gauge, "process_resident_memory_bytes", "Memory of the process that is present.", value: residentBytes),
      MetricFamily(.gauge, "process_virtual_memory_bytes", "The process's address space.", value: virtualBytes),
      MetricFamily(.gauge, "process_open_fds", "Open file descriptors.", value: descriptors),
      MetricFamily(.gauge, "process_max_fds", "File descriptors that may be open.", value: mostDescriptors),
    ]
  }
}
